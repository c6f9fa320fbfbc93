import type { Source } from '../db/reports/dimensions.ts'
import { REPORT_STEPS } from './limits.ts'
import type { Part, Selection } from './select.ts'

/** Records of some days, of customers with an id from `first` on and before `end`; null: without an end. */
export interface Range {
  /** In days since 1970-01-01. */
  readonly from: number
  readonly to: number
  readonly first: string
  readonly end: string | null
}

/** A range of records, and what one batch reads of it. */
export interface Step extends Range {
  readonly parts: readonly Part[]
  /** Roughly how many steps the reader makes of this step, by customer, before it reads them. */
  readonly pieces: number
}

/** The number of records of each day, by source. Days without records are absent. */
export type Counts = ReadonlyMap<Source, ReadonlyMap<number, number>>

/** What reading a record costs, and whose records a part reads; those of `active` depend on the shape. */
const READ: Readonly<Record<Part, readonly [cost: number, sources: readonly Source[]]>> = {
  clicks: [0.5, ['clicks']],
  signups: [0.5, ['customers']],
  transactions: [1.5, ['transactions']],
  first_deposits: [1.2, ['transactions']],
  activity: [1, ['activity']],
  events: [1, ['events']],
  kpis: [4, ['events']],
  active: [0.8, []],
  commission: [0, []],
}

const sourcesOfPart = (part: Part, { active }: Selection['shape']): readonly Source[] =>
  part === 'active' ? active : READ[part][1]

/** Returns the sources whose records parts read. */
export const sourcesOf = (parts: readonly Part[], shape: Selection['shape']): Source[] => [
  ...new Set(parts.flatMap((part) => sourcesOfPart(part, shape))),
]

/** The steps of a report in order, and what one of them costs. */
export interface ReadingSchedule {
  readonly steps: Step[]
  readonly cost: number
}

/** Parts for which a customer counts once: their records are divided by customer, not by day. */
export const isOfCustomers = (part: Part): boolean => part === 'active' || part === 'first_deposits'

/**
 * Schedules the steps in which records are read: by day, and on a day with many of them by customer. Parts that
 * are only divided by customer come last.
 */
export function scheduleSteps(
  { statements, shape }: Selection,
  counts: Counts,
  range: Range,
): ReadingSchedule {
  const parts = statements.map(([part]) => part)
  const daily = parts.filter((part) => part !== 'commission' && !isOfCustomers(part))
  const others = parts.filter(isOfCustomers)
  const days = costsOfDays(daily, shape, counts)
  const othersCost = sumOf(costsOfDays(others, shape, counts))
  const sum = sumOf(days) + othersCost
  const cost = Math.max(REPORT_STEPS.cost, Math.ceil(sum / REPORT_STEPS.count))
  if (sum <= cost) return { steps: [{ ...range, parts, pieces: 1 }], cost }
  const piecesOf = (part: number) => (part > 2 * cost ? Math.ceil(part / cost) : 1)
  const steps = [
    { ...range, parts: parts.filter((part) => part === 'commission'), pieces: 1 },
    ...runsOfDays(days, cost).map((run) => ({
      ...range,
      from: run.from,
      to: run.to,
      parts: daily,
      pieces: piecesOf(run.cost),
    })),
    { ...range, parts: others, pieces: piecesOf(othersCost) },
  ]
  return { steps: steps.filter((step) => step.parts.length > 0), cost }
}

/** Returns the sum of the values of days. */
export const sumOf = (days: ReadonlyMap<number, number>): number =>
  [...days.values()].reduce((sum, value) => sum + value, 0)

/** Returns what reading the records of each day costs. */
function costsOfDays(
  parts: readonly Part[],
  shape: Selection['shape'],
  counts: Counts,
): ReadonlyMap<number, number> {
  const costs = new Map<number, number>()
  for (const part of parts) {
    for (const source of sourcesOfPart(part, shape)) {
      for (const [day, count] of counts.get(source) ?? []) {
        costs.set(day, (costs.get(day) ?? 0) + READ[part][0] * count)
      }
    }
  }
  return costs
}

/** Divides days into runs that cost at most `most`; a day that costs more is a run of its own. */
function runsOfDays(costs: ReadonlyMap<number, number>, most: number) {
  const runs: { from: number; to: number; cost: number }[] = []
  for (const [day, cost] of [...costs].sort(([a], [b]) => a - b)) {
    const last = runs.at(-1)
    if (last && last.cost + cost <= most) {
      last.to = day
      last.cost += cost
    } else runs.push({ from: day, to: day, cost })
  }
  return runs
}

/** Divides a range at ids. If the first customer exceeds a step, it gets a range of its own. */
export function divide<T extends Range>(range: T, ids: readonly string[]): T[] {
  const bounds = ids.map((id) => (id === range.first ? afterId(id) : id))
  return [range.first, ...bounds].map((first, i) => ({
    ...range,
    first,
    end: bounds[i] ?? range.end,
  }))
}

/** The end of a range that has one id only: no other text lies between. */
const afterId = (id: string): string => `${id}\u0001`

/** Returns whether all records of a range are of one customer. */
export const isOfOne = ({ first, end }: Range): boolean => end === afterId(first)
