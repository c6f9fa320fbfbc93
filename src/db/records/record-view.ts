import type { RecordTable } from './record-table.ts'

/** The name of a resource: the noun in its path, and its name in `totals`, `deliveries` and `arrivals`. */
export type ResourceName = 'customers' | 'transactions' | 'trading-activity' | 'activities'

/** A resource as the database reads it: lists, held records and control totals follow from it. */
export interface RecordView {
  readonly name: ResourceName
  readonly recordTable: RecordTable
  /** The columns that a list reads, the key among them. */
  readonly columns: readonly string[]
  /** Returns a record as its sender knows it, from a row of `columns`. */
  readonly present: (row: Record<string, unknown>) => Record<string, unknown>
  /** The columns whose values form a group of the control totals. */
  readonly groups: readonly string[]
  /** The numeric columns that the control totals sum. */
  readonly sums: readonly string[]
  /** A column of JSON that maps KPI names to numbers; each is summed under its name. */
  readonly kpis?: string
  /** The wire names of columns, where they differ. */
  readonly wire?: Readonly<Record<string, string>>
}
