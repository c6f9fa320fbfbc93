import { activity, events } from './schema.ts'
import { columnNames, primaryKeyOf, type Table, tableName } from './table.ts'

/** The resources of which months are archived. An account has one of them. */
export const ARCHIVED_RESOURCES = ['trading-activity', 'activities'] as const

/** A resource of which months are archived. */
export type ArchivedResource = (typeof ARCHIVED_RESOURCES)[number]

/** A table whose old records are archived. */
export interface ArchivedTable {
  readonly table: string
  readonly dayColumn: string
  /** The primary key behind the account. */
  readonly key: readonly string[]
  /** The condition of the records that leave. */
  readonly leaves: string
  /** All columns but the account. */
  readonly columns: readonly string[]
}

function archivedTable(table: Table, dayColumn: string, leaves: string): ArchivedTable {
  return {
    table: tableName(table),
    dayColumn,
    key: primaryKeyOf(table).filter((name) => name !== 'account'),
    leaves,
    columns: columnNames(table).filter((name) => name !== 'account'),
  }
}

/** The tables whose old records are archived, by resource. Of events, those of a whole day leave. */
export const ARCHIVED_TABLES: Readonly<Record<ArchivedResource, ArchivedTable>> = {
  'trading-activity': archivedTable(activity, 'date', 'true'),
  activities: archivedTable(events, 'day', `substr(id, 1, 2) = 'd '`),
}
