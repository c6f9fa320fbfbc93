import type { Source } from '../db/reports/dimensions.ts'
import { REPORT_LIMITS, REPORT_STEPS } from './limits.ts'
import type { Part } from './select.ts'

/** Records of some days of customers with an id from `first` on and before `end`; null: of all others. */
export interface Range {
  /** In days since 1970-01-01. */
  readonly from: number
  readonly to: number
  readonly first: string
  readonly end: string | null
}

/** The records of each day with any. */
export type DayCounts = ReadonlyMap<number, number>

/** A range of records, what is read of it, and what reading it costs. */
export interface Step extends Range {
  readonly parts: readonly Part[]
  readonly sources: readonly Source[]
  readonly cost: number
}

/** A day with more records than a step reads; it is divided after every `step` records. */
export interface LargeDay {
  readonly source: Source
  readonly day: number
  readonly step: number
  readonly range: Range
}

/** What reads records of each source, and what a record of each part costs. */
export const PARTS: Readonly<Record<Source, readonly Part[]>> = {
  customers: ['signups'],
  clicks: ['clicks'],
  transactions: ['transactions', 'first_deposits'],
  activity: ['activity'],
  events: ['events', 'kpis'],
}

const COSTS: Readonly<Record<Part, number>> = {
  ...{ clicks: 0.5, signups: 0.5, transactions: 1.5, first_deposits: 1.2, activity: 1 },
  ...{ events: 1, kpis: 4, active: 0.8, commission: 0 },
}

/** Returns what a record costs of which parts are read. */
export const costOf = (parts: readonly Part[]): number =>
  parts.reduce((sum, part) => sum + COSTS[part], 0)

/** Returns the number of records of some days. */
export const countOf = (counts: DayCounts): number =>
  [...counts.values()].reduce((sum, count) => sum + count, 0)

/** Returns what one batch costs of a report that costs so much in all. */
export const sizeOfBatch = (cost: number): number =>
  Math.max(REPORT_STEPS.batch, Math.ceil(cost / REPORT_STEPS.batches))

/**
 * Returns the most records that a statement of a step reads; a step with more is divided, if it can be.
 * `size` is what a batch costs.
 */
export function mostOf(step: Step, size: number): number {
  const { parts } = step
  // A link can have all clicks of a day, and they are only counted.
  if (parts.includes('clicks')) return REPORT_LIMITS.records
  const isDivided = parts.includes('active') && !isOfOne(step)
  return isDivided
    ? Math.ceil((REPORT_STEPS.excess * size) / costOf(parts))
    : REPORT_LIMITS.customer + size
}

/** Divides the days of a source into runs of at most so many records; a larger day is a run of its own. */
export function runsOfDays(counts: DayCounts, most: number): { range: Range; count: number }[] {
  const runs: { range: Range; count: number }[] = []
  for (const [day, count] of counts) {
    const last = runs.at(-1)
    const both = (last?.count ?? 0) + count
    if (last && both <= most) {
      runs[runs.length - 1] = { range: { ...last.range, to: day }, count: both }
    } else runs.push({ range: { from: day, to: day, first: '', end: null }, count })
  }
  return runs
}

/** Divides a range at ids. */
export const divide = (range: Range, bounds: readonly string[]): Range[] =>
  [range.first, ...bounds].map((first, i) => ({ ...range, first, end: bounds[i] ?? range.end }))

/** The end of a range that has one id only: no other text lies between. */
export const afterId = (id: string): string => `${id}\u0001`

/** Whether all records of a range are of one customer. */
export const isOfOne = ({ first, end }: Range): boolean => end === afterId(first)

/** Returns the next steps that one batch reads together: at least one. */
export function nextSteps(steps: readonly Step[], size: number): number {
  let cost = 0
  const count = steps.findIndex((step, i) => {
    cost += step.cost
    return i > 0 && cost > size
  })
  return count === -1 ? steps.length : count
}
