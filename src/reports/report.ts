import type { MetricType } from './metrics.ts'

/** The value of a group; null for records that do not have it. */
export type GroupValue = string | number | null

/** A column of a report: a group or a metric. */
export interface Column {
  readonly name: string
  readonly type: 'group' | MetricType
}

/** The value of a metric: a whole number, a decimal as text, or null if it is unknown. */
export type Figure = number | string | null

/** What could not be converted of a metric. */
export interface Unconverted {
  readonly metric: string
  /** Null: the records name no currency. */
  readonly currency: string | null
  readonly reason: string
  readonly amount: string
}

/** The metrics of some records. */
export interface Figures {
  readonly metrics: Readonly<Record<string, Figure>>
  readonly unconverted: readonly Unconverted[]
}

/** A row of a report. */
export interface Row extends Figures {
  readonly groups: Readonly<Record<string, GroupValue>>
}

/** Why a metric is null somewhere, or may have a wrong name. */
export interface Note {
  readonly metric: string
  readonly reason: string
  readonly detail: string
}

/** A report as it is sent. */
export interface Report {
  readonly from: string
  readonly to: string
  readonly currency: string
  readonly group_by: readonly string[]
  readonly columns: readonly Column[]
  readonly data: readonly Row[]
  readonly totals: Figures
  readonly notes: readonly Note[]
}
