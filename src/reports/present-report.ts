import { compareText } from '../platform/compare-text.ts'
import type { EventDefinition } from '../platform/directory/event-definitions.ts'
import { dayNumber, dayText, type Period, parsePeriod } from '../platform/money/calendar.ts'
import { fromFact, plainText } from '../platform/money/decimal.ts'
import type { Collected, GroupSums } from './collect.ts'
import { COMMISSION, type CommissionScope, type Days } from './commission.ts'
import { REPORT_LIMITS } from './limits.ts'
import {
  EVENTS,
  type Figure,
  type Figures,
  type GroupValue,
  isEventMetric,
  type Metric,
  type Note,
  REVENUE,
  type Report,
  type ReportQuery,
  type Row,
  requestedEventMetric,
  revenueOf,
  type Selection,
  type Unconverted,
} from './report.ts'
import type { Rest, Sums } from './sums.ts'
import { tooLarge } from './too-large.ts'

/** What the figures of a report depend on beside sums. */
export interface Known {
  readonly days: Days
  readonly commission: CommissionScope
  /** The first day of which clicks are kept. */
  readonly clicksFrom: number
  /** The definitions of a brand's events. */
  readonly definitions: readonly EventDefinition[]
}

const CLICKS = 'clicks'

/** Returns a report of sums. */
export function presentReport(
  query: ReportQuery,
  selection: Selection,
  collected: Collected,
  known: Known,
): Report {
  const { from, to, currency, groups } = query
  const own = selection.metrics.map((metric) =>
    metric.name === REVENUE && !metric.of ? revenueOf('igaming', known.definitions) : metric,
  )
  const metrics = [...own, ...eventMetrics(query, selection, collected)]
  if (collected.groups.size * metrics.length > REPORT_LIMITS.figures) throw tooLarge('figures')
  const totals = presentFigures(
    metrics,
    collected.totals,
    unknownFrom(known.days.first, known.commission.inTotals, known),
  )
  const data = presentRows(metrics, groups, collected.groups.values(), (values) =>
    unknownFrom(firstDayOf(groups, values, known.days), known.commission.inRows, known),
  )
  return {
    from,
    to,
    currency,
    group_by: groups,
    columns: [
      ...groups.map((name) => ({ name, type: 'group' as const })),
      ...metrics.map(columnOf),
    ],
    data: groups.length === 0 ? [{ groups: {}, ...totals }] : data,
    totals,
    notes: notesOf(metrics, known),
  }
}

const columnOf = ({ name, type }: Metric) => ({ name, type })

/** Returns the metrics of events: those that the request names, or all that were found. */
function eventMetrics(
  { metrics }: ReportQuery,
  { hasEvents }: Selection,
  { events }: Collected,
): Metric[] {
  if (!hasEvents) return []
  const found = [...events.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  if (metrics === null) return found
  const named = metrics
    .filter((name) => isEventMetric(name) && name !== EVENTS)
    .map((name) => events.get(name) ?? requestedEventMetric(name))
  if (!metrics.includes(EVENTS)) return named
  return [...found, ...named.filter(({ name }) => !events.has(name))]
}

/** Returns the metrics that are unknown for records from a day on. */
const unknownFrom = (
  day: number,
  hasCommission: boolean,
  { clicksFrom }: Known,
): ReadonlySet<string> =>
  new Set([...(day < clicksFrom ? [CLICKS] : []), ...(hasCommission ? [] : [COMMISSION])])

/** Returns the first day of the records of a row. */
function firstDayOf(
  groups: readonly string[],
  values: readonly GroupValue[],
  { first }: Days,
): number {
  const starts = groups.map((group, i) => startOf(group, String(values[i])))
  return Math.max(first, ...starts)
}

function startOf(group: string, value: string): number {
  if (group === 'day') return dayNumber(value)
  const period: Period | null = group === 'week' || group === 'month' ? parsePeriod(value) : null
  return period?.first ?? Number.NEGATIVE_INFINITY
}

/** Returns why metrics of the report are null. */
function notesOf(metrics: readonly Metric[], { days, commission, clicksFrom }: Known): Note[] {
  const notes: Note[] = [
    ...(days.first < clicksFrom
      ? [
          {
            metric: CLICKS,
            reason: 'not_kept' as const,
            detail: `Clicks are kept for 30 days: since ${dayText(clicksFrom)}.`,
          },
        ]
      : []),
    ...commission.notes,
  ]
  return notes.filter(({ metric }) => metrics.some(({ name }) => name === metric))
}

const textOf = (units: bigint): string => plainText(fromFact(units))

const NOTHING = { units: 0n, rest: new Map<string, Rest>() }

/**
 * Returns the figures of sums, all of which are converted; those of the metrics in `unknown` are
 * null.
 */
function presentFigures(
  metrics: readonly Metric[],
  sums: Sums,
  unknown: ReadonlySet<string>,
): Figures {
  const unconverted = new Map<string, Omit<Unconverted, 'amount'> & { readonly units: bigint }>()
  const figureOf = ({ name, type, of = [[name, 1]] }: Metric): Figure => {
    if (unknown.has(name)) return null
    if (type === 'count') return sums.counts.get(name) ?? 0
    if (type === 'number') return textOf(sums.numbers.get(name) ?? 0n)
    let total = 0n
    for (const [sum, sign] of of) {
      const { units, rest } = sums.amounts.get(sum) ?? NOTHING
      total += units * BigInt(sign)
      for (const one of rest.values()) {
        const { currency, reason } = one
        const key = JSON.stringify([name, currency, reason])
        const units = (unconverted.get(key)?.units ?? 0n) + one.units * BigInt(sign)
        unconverted.set(key, { metric: name, currency, reason, units })
      }
    }
    return textOf(total)
  }
  const figures = Object.fromEntries(metrics.map((metric) => [metric.name, figureOf(metric)]))
  const rests = [...unconverted.values()].map(({ units, ...one }) => ({
    ...one,
    amount: textOf(units),
  }))
  return { metrics: figures, unconverted: rests.sort(compareUnconverted) }
}

const compareUnconverted = (a: Unconverted, b: Unconverted): number =>
  compareText(a.currency ?? '', b.currency ?? '') ||
  compareText(a.metric, b.metric) ||
  compareText(a.reason, b.reason)

/**
 * Returns the rows of groups in the order of their values; `unknownOf` names the metrics that are
 * null.
 */
const presentRows = (
  metrics: readonly Metric[],
  groups: readonly string[],
  all: Iterable<GroupSums>,
  unknownOf: (values: readonly GroupValue[]) => ReadonlySet<string>,
): Row[] =>
  [...all]
    .sort((a, b) => compareValues(a.values, b.values))
    .map(({ values, sums }) => ({
      groups: Object.fromEntries(groups.map((name, i) => [name, values[i] ?? null])),
      ...presentFigures(metrics, sums, unknownOf(values)),
    }))

/** Compares numbers by size and texts by code point; null comes last. */
function compareValues(a: readonly GroupValue[], b: readonly GroupValue[]): number {
  for (const [i, value] of a.entries()) {
    const order = compareValue(value, b[i] ?? null)
    if (order !== 0) return order
  }
  return 0
}

function compareValue(a: GroupValue, b: GroupValue): number {
  if (a === b) return 0
  if (a === null) return 1
  if (b === null) return -1
  return typeof a === 'number' && typeof b === 'number' ? a - b : compareText(String(a), String(b))
}
