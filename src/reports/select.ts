import type { ReportShape } from '../db/reports/sources.ts'
import { activeSql, clicksSql, signupsSql } from '../db/reports/sources.ts'
import {
  activitySql,
  commissionSql,
  eventsSql,
  firstDepositsSql,
  kpisSql,
  transactionsSql,
} from '../db/reports/sums.ts'
import { ACTIVITY_METRICS, isEventMetric, type Metric, metricsOf, typesOf } from './metrics.ts'
import type { ReportQuery } from './parse-report.ts'

/** What the statements of a report read. */
export type Part =
  | 'clicks'
  | 'signups'
  | 'transactions'
  | 'first_deposits'
  | 'activity'
  | 'events'
  | 'kpis'
  | 'active'
  | 'commission'

/** What is read for a report. */
export interface Selection {
  readonly shape: ReportShape
  /** The metrics that do not depend on records, in the order of their columns. */
  readonly metrics: readonly Metric[]
  /** Whether the metrics of events are read. */
  readonly hasEvents: boolean
  /** The statements, by what they read. */
  readonly statements: readonly (readonly [Part, string])[]
}

/** Groups by which the commission is known: statements have an affiliate and a period. */
const COMMISSION_GROUPS = ['affiliate_id', 'month', 'week']

/** Returns whether the rows of a report can show the commission. */
export const hasCommissionRows = (groups: readonly string[]): boolean =>
  groups.every((group) => COMMISSION_GROUPS.includes(group))

/** What of the settings of an account decides which statements a report needs. */
export type ShapeSettings = Pick<ReportShape, 'signed' | 'hasStatus'>

/** Decides what a report of a vertical reads. */
export function selectMetrics(
  vertical: string,
  query: ReportQuery,
  settings: ShapeSettings,
): Selection {
  const { groups, currency } = query
  const metrics = metricsOf(vertical).filter(({ name }) => query.metrics?.includes(name) ?? true)
  const sums = new Set(metrics.flatMap(({ name, of }) => of?.map(([sum]) => sum) ?? [name]))
  const hasEvents = vertical === 'igaming' && (query.metrics?.some(isEventMetric) ?? true)
  const types = typesOf(vertical, sums)
  const activity = Object.entries(ACTIVITY_METRICS).flatMap(([name, column]) =>
    sums.has(name) ? [column] : [],
  )
  const hasFirst = sums.has('first_deposit_count') || sums.has('first_deposit_amount')
  const isBrand = vertical === 'igaming'
  const shape = {
    groups,
    types,
    activity,
    byDay: activity.includes('volume_usd') && currency !== 'USD',
    inUsd: currency === 'USD',
    ...settings,
    active: isBrand ? (['events'] as const) : (['transactions', 'activity'] as const),
  }
  const parts: (readonly [Part, boolean, () => string])[] = [
    ['clicks', sums.has('clicks'), () => clicksSql(shape)],
    [
      'signups',
      sums.has('signups') || sums.has('attributed'),
      () => signupsSql(shape, sums.has('attributed')),
    ],
    ['transactions', types.length > 0, () => transactionsSql(shape)],
    ['first_deposits', hasFirst, () => firstDepositsSql(shape)],
    ['activity', activity.length > 0, () => activitySql(shape)],
    ['events', hasEvents, () => eventsSql(shape)],
    ['kpis', hasEvents, () => kpisSql(shape)],
    ['active', sums.has('active_customers'), () => activeSql(shape)],
    [
      'commission',
      sums.has('commission_owed'),
      () => commissionSql(hasCommissionRows(groups) && groups.includes('affiliate_id')),
    ],
  ]
  const statements = parts.flatMap(([part, isNeeded, sql]) =>
    isNeeded ? [[part, sql()] as const] : [],
  )
  return { shape, metrics, hasEvents, statements }
}
