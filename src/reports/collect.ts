import { unitsOf } from '../platform/db/exact-sums.ts'
import { dayText, periodOf } from '../platform/money/calendar.ts'
import type { ReportRow } from './db/read-report.ts'
import { REPORT_LIMITS } from './limits.ts'
import {
  ACTIVITY_METRICS,
  eventCount,
  eventKpi,
  type GroupValue,
  type Metric,
  transactionMetric,
} from './report.ts'
import { addAmount, addCount, addNumber, emptySums, type Sums } from './sums.ts'
import { tooLarge } from './too-large.ts'

/** The sums of one group. */
export interface GroupSums {
  readonly values: readonly GroupValue[]
  readonly sums: Sums
}

/** The sums of a report: of each group and of all records. */
export interface Collected {
  readonly groups: Map<string, GroupSums>
  readonly totals: Sums
  /** The metrics of the events that were found, by name. */
  readonly events: Map<string, Metric>
}

/** Returns sums of no record. */
export const nothingCollected = (): Collected => ({
  groups: new Map(),
  totals: emptySums(),
  events: new Map(),
})

/** How the rows of a report become sums. */
export interface Collecting {
  readonly collected: Collected
  readonly groups: readonly string[]
  /** The default currency of each event, by its name. */
  readonly eventCurrencies: ReadonlyMap<string, string>
}

/** Returns the value of a group as the report shows it. */
function groupValue(group: string, stored: GroupValue): GroupValue {
  if (typeof stored !== 'number') return stored
  if (group === 'day') return dayText(stored)
  return group === 'week' || group === 'month' ? periodOf(stored, group).id : stored
}

/** Returns the values of the groups of a row. */
export const valuesOf = (groups: readonly string[], row: ReportRow): GroupValue[] =>
  groups.map((group, i) => groupValue(group, row[`g${i}`] ?? null))

/** Returns the sums of a group and those of all records, to which a row is added. */
export function sumsOf({ groups }: Collected, values: readonly GroupValue[]): Sums {
  const key = JSON.stringify(values)
  let group = groups.get(key)
  if (group === undefined) {
    if (groups.size === REPORT_LIMITS.groups) throw tooLarge('groups')
    group = { values, sums: emptySums() }
    groups.set(key, group)
  }
  return group.sums
}

/** Calls a function with the sums of a row's group, and with those of all records. */
function forSums({ collected, groups }: Collecting, row: ReportRow, add: (sums: Sums) => void) {
  add(sumsOf(collected, valuesOf(groups, row)))
  add(collected.totals)
}

/** Adds rows that count records. */
export function collectCounts(collecting: Collecting, rows: readonly ReportRow[], metric: string) {
  for (const row of rows) {
    forSums(collecting, row, (sums) => addCount(sums, metric, Number(row.count)))
  }
}

/** Adds signups. */
export function collectSignups(collecting: Collecting, rows: readonly ReportRow[]): void {
  collectCounts(collecting, rows, 'signups')
  for (const row of rows) {
    forSums(collecting, row, (sums) => addCount(sums, 'attributed', Number(row.attributed)))
  }
}

const currencyOf = (row: ReportRow) => (row.currency === null ? null : String(row.currency))
const dayOf = (row: ReportRow) => (row.rate_day === null ? null : Number(row.rate_day))

const amountOf = (row: ReportRow) => ({
  currency: currencyOf(row),
  day: dayOf(row),
  units: unitsOf(row.amount),
  usd: row.has_usd === 1 ? unitsOf(row.usd) : null,
})

/** Adds transactions by type, or first deposits. */
export function collectTransactions(
  collecting: Collecting,
  rows: readonly ReportRow[],
  nameOf = (row: ReportRow, of: 'count' | 'amount') =>
    transactionMetric(String(row.type), row.approved === 1, of),
): void {
  for (const row of rows) {
    if (row.type === null) continue
    forSums(collecting, row, (sums) => {
      addCount(sums, nameOf(row, 'count'), Number(row.count))
      addAmount(sums, nameOf(row, 'amount'), amountOf(row))
    })
  }
}

/** Adds trading activity. Volume is in USD, lots have no currency. */
export function collectActivity(
  collecting: Collecting,
  rows: readonly ReportRow[],
  columns: readonly string[],
): void {
  const metrics = Object.entries(ACTIVITY_METRICS).filter(([, name]) => columns.includes(name))
  for (const row of rows) {
    forSums(collecting, row, (sums) => {
      for (const [metric, column] of metrics) {
        if (row[column] === null) continue
        const units = unitsOf(row[column])
        if (column === 'lots_traded') addNumber(sums, metric, units)
        else {
          const currency = column === 'volume_usd' ? 'USD' : currencyOf(row)
          addAmount(sums, metric, { currency, day: dayOf(row), units, usd: null })
        }
      }
    })
  }
}

/** Adds events: their counts and `Value`, or one KPI. */
export function collectEvents(collecting: Collecting, rows: readonly ReportRow[]): void {
  const { collected, eventCurrencies } = collecting
  const known = (metric: Metric) => {
    if (!collected.events.has(metric.name)) collected.events.set(metric.name, metric)
    return metric.name
  }
  for (const row of rows) {
    const event = String(row.event)
    const currency = currencyOf(row) ?? eventCurrencies.get(event) ?? null
    const isCounted = row.count !== undefined
    const kpi = isCounted ? 'Value' : String(row.kpi)
    const isApproved = row.approved === 1
    forSums(collecting, row, (sums) => {
      if (isCounted) addCount(sums, known(eventCount(event, isApproved)), Number(row.count))
      if (row.amount === null) return
      const units = unitsOf(row.amount)
      const metric = known(eventKpi(event, kpi, isApproved))
      addAmount(sums, metric, { currency, day: dayOf(row), units, usd: null })
    })
  }
}
