import type { Source } from '../db/reports/dimensions.ts'
import type { ReadBatch, ReportRow, ReportStatement } from '../db/reports/read-report.ts'
import { divideDaySql } from '../db/reports/sources.ts'
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
  sizeOfBatch,
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

/** The steps of a report, and what one batch of them costs. */
export interface Plan {
  readonly steps: Step[]
  readonly size: number
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
): Promise<Plan> {
  const sources = sourcesOf(parts, counts)
  const costs = sources.map((one) => costOf(one.parts) * recordsOf(counts, one.sources))
  const size = sizeOfBatch(costs.reduce((sum, cost) => sum + cost, 0))
  const planned = sources.flatMap((one) =>
    one.parts.includes('active')
      ? planActive(one, counts, days, size)
      : planDays(one, counts.get(one.sources[0]!) ?? new Map(), size),
  )
  const large = planned.flatMap((one) => one.large ?? [])
  const bounds = new Map<LargeDay, string[]>()
  for (let i = 0; i < large.length; i += DIVIDED) {
    const some = large.slice(i, i + DIVIDED)
    const results = await readBatch(some.map(divideStatement))
    for (const [j, one] of some.entries()) bounds.set(one, idsOf(results[j] ?? []))
  }
  const steps = planned.flatMap(({ range, large, ...step }) => {
    const ranges = divide(range, (large && bounds.get(large)) ?? [])
    return ranges.map((one) => ({ ...step, ...one, cost: step.cost / ranges.length }))
  })
  const isLast = ({ parts }: Step) => Number(parts.includes('active'))
  return { steps: steps.sort((a, b) => isLast(a) - isLast(b) || a.from - b.from), size }
}

/** Returns the statement that divides a large day. */
export const divideStatement = ({ source, day, step, range }: LargeDay): ReportStatement => [
  divideDaySql(source),
  { day, step, first: range.first, end: range.end },
]

/** Returns the ids at which a large day is divided. */
export const idsOf = (rows: readonly ReportRow[]): string[] => rows.map(({ id }) => String(id))

/** The sources whose records make a customer active. */
const ACTIVE: readonly Source[] = ['transactions', 'activity', 'events']

type Reading = Pick<Step, 'parts' | 'sources'>

/** Returns which parts are read of which sources. */
function sourcesOf(wanted: readonly Part[], counts: Counts): Reading[] {
  const known = [...counts.keys()]
  const readings = known.map((source) => ({
    parts: PARTS[source].filter((part) => wanted.includes(part)),
    sources: [source],
  }))
  const active = {
    parts: ['active'] as const,
    sources: known.filter((one) => ACTIVE.includes(one)),
  }
  return [
    ...readings.filter(({ parts }) => parts.length > 0),
    ...(wanted.includes('active') ? [active] : []),
  ]
}

const recordsOf = (counts: Counts, sources: readonly Source[]): number =>
  sources.reduce((sum, source) => sum + countOf(counts.get(source) ?? new Map()), 0)

function planDays({ parts, sources }: Reading, counts: DayCounts, size: number): Planned[] {
  const cost = costOf(parts)
  const step = Math.floor(size / cost)
  return runsOfDays(counts, step).map(({ range, count }) => {
    const source = sources[0]!
    const large = count > step ? { source, day: range.from, step, range } : null
    return { parts, sources, cost: cost * count, range, large }
  })
}

function planActive(reading: Reading, counts: Counts, range: Range, size: number): Planned {
  const { parts, sources } = reading
  const cost = costOf(parts) * recordsOf(counts, sources)
  const pieces = Math.ceil(cost / size)
  const large = pieces > 1 ? largestDay(counts, sources, range, pieces) : null
  return { ...reading, cost, range, large }
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
