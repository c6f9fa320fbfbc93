import type { Source } from '../db/reports/dimensions.ts'
import type { ReadBatch, ReportRow, ReportStatement } from '../db/reports/read-report.ts'
import { divideDaySql } from '../db/reports/sources.ts'
import { REPORT_STEPS } from './limits.ts'
import type { Part } from './select.ts'
import {
  costOf,
  countOf,
  type DayCounts,
  divide,
  type LargeDay,
  PARTS,
  type Range,
  runsOfDays,
  type Step,
} from './steps.ts'

/** The records of each day, by source. */
export type Counts = ReadonlyMap<Source, DayCounts>

/** The statements that divide large days in one batch: they only count. */
const DIVIDED = 8

/** Steps that are planned, or a large day by which they are divided. */
type Planned = Pick<Step, 'parts' | 'sources' | 'cost'> & {
  readonly range: Range
  readonly large: LargeDay | null
}

/**
 * Plans in which steps records are summed: by day, and on a large day by customer. Customers with records
 * are counted by customer, over all days: each counts once.
 */
export async function planSteps(
  parts: readonly Part[],
  counts: Counts,
  days: Range,
  readBatch: ReadBatch,
): Promise<Step[]> {
  const planned = [...counts].flatMap(([source, ofDays]) => planSource(source, parts, ofDays))
  if (parts.includes('active')) planned.push(planActive(counts, days))
  const large = planned.flatMap((one) => one.large ?? [])
  const bounds = new Map<LargeDay, string[]>()
  for (let i = 0; i < large.length; i += DIVIDED) {
    const some = large.slice(i, i + DIVIDED)
    const results = await readBatch(some.map(divideStatement))
    for (const [j, one] of some.entries()) bounds.set(one, idsOf(results[j] ?? []))
  }
  return planned
    .flatMap(({ range, large, ...step }) => {
      const ranges = divide(range, (large && bounds.get(large)) ?? [])
      return ranges.map((one) => ({ ...step, ...one, cost: step.cost / ranges.length }))
    })
    .sort((a, b) => Number(a.sources.length > 1) - Number(b.sources.length > 1) || a.from - b.from)
}

/** Returns the statement that divides a large day. */
export const divideStatement = ({ source, day, step, range }: LargeDay): ReportStatement => [
  divideDaySql(source),
  { day, step, first: range.first, end: range.end },
]

/** Returns the ids at which a large day is divided. */
export const idsOf = (rows: readonly ReportRow[]): string[] => rows.map(({ id }) => String(id))

function planSource(source: Source, wanted: readonly Part[], counts: DayCounts): Planned[] {
  const parts = PARTS[source].filter((part) => wanted.includes(part))
  if (parts.length === 0) return []
  const cost = costOf(parts)
  return runsOfDays(counts, cost).map(({ range, count }) => {
    const step = Math.floor(REPORT_STEPS.batch / cost)
    const large = count > step ? { source, day: range.from, step, range } : null
    return { parts, sources: [source], cost: cost * count, range, large }
  })
}

/** The sources whose records make a customer active. */
const ACTIVE: readonly Source[] = ['transactions', 'activity', 'events']

function planActive(counts: Counts, range: Range): Planned {
  const sources = ACTIVE.filter((source) => counts.has(source))
  const parts = ['active'] as const
  const pieces = Math.ceil(
    (costOf(parts) * sources.reduce((sum, source) => sum + countOf(counts.get(source)!), 0)) /
      REPORT_STEPS.batch,
  )
  const large = pieces > 1 ? largestDay(counts, sources, range, pieces) : null
  return { parts, sources, cost: pieces * REPORT_STEPS.batch, range, large }
}

/** Returns the day with the most records, divided into pieces. */
export function largestDay(
  counts: Counts,
  sources: readonly Source[],
  range: Range,
  pieces: number,
): LargeDay | null {
  let largest: LargeDay | null = null
  let most = 0
  for (const source of sources) {
    for (const [day, count] of counts.get(source) ?? []) {
      if (count <= most) continue
      most = count
      largest = { source, day, step: Math.floor(count / pieces), range }
    }
  }
  return largest
}
