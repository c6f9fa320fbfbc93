import type { Source } from '../db/reports/dimensions.ts'
import type { ReadBatch, ReportRow } from '../db/reports/read-report.ts'
import { countDaysSql, divideDaySql } from '../db/reports/sources.ts'
import { REPORT_LIMITS, REPORT_STEPS } from './limits.ts'
import type { Part, Selection } from './select.ts'
import { tooLarge, tooManyRecords } from './too-large.ts'

/** What receives the rows that are read. */
export interface RowConsumer {
  /** Adds rows of a part. */
  readonly addRows: (part: Part, rows: readonly ReportRow[]) => void
  /** Called when all records before a day are added. */
  readonly endDays: (before: number) => Promise<void>
}

/** About how many pieces the reader makes of a step that exceeded its limits. */
const PIECES = 8

/** Counts the records of a report, and reads them in steps. */
export async function readSteps(
  selection: Selection,
  range: Range,
  values: Readonly<Record<string, string | number>>,
  readBatch: ReadBatch,
  { addRows, endDays }: RowConsumer,
): Promise<void> {
  const sql = new Map(selection.statements)
  const counts = await countDays(sourcesOf([...sql.keys()], selection.shape), range, readBatch)
  for (const [source, days] of counts) {
    if (sumOf(days) > REPORT_LIMITS.records) throw tooManyRecords(source, range.from, days)
  }
  const { steps, cost } = scheduleSteps(selection, counts, range)
  const used = { kpis: 0, searched: 0 }
  for (let step = steps.shift(); step; step = steps.shift()) {
    if (step.pieces > 1) {
      steps.unshift(...(await divideStep(step, sourcesOf(step.parts, selection.shape), readBatch)))
      continue
    }
    const { parts, pieces, ...bounds } = step
    const limits = parts.map((part) => limitsOf(part, bounds, cost))
    const results = await readBatch(
      parts.map((part, i) => [sql.get(part) ?? '', { ...values, ...bounds, ...limits[i] }]),
      steps.length === 0,
    )
    const excess: Part[] = []
    for (const [i, part] of parts.entries()) {
      const rows = results[i] ?? []
      // The values of KPIs do not say how many events were read.
      const isWhole = isWithin(rows, limits[i]!) && !(part === 'kpis' && excess.includes('events'))
      if (isWhole) {
        addRows(part, rows)
        used.kpis += total(rows, 'values')
        used.searched += total(rows, 'searched')
      } else excess.push(part)
    }
    if (used.kpis > REPORT_LIMITS.kpis) throw tooLarge('kpis')
    if (used.searched > REPORT_LIMITS.searched) throw tooLarge('searched')
    if (excess.includes('commission')) throw tooLarge('sums')
    if (excess.length > 0 && isOfOne(bounds)) throw tooLarge('customer')
    if (excess.length > 0) steps.unshift({ ...step, parts: excess, pieces: PIECES })
    // The last steps can have first deposits of all days.
    await endDays(steps[0]?.from ?? Number.POSITIVE_INFINITY)
  }
}

/** What one statement may read and return. */
interface Limits {
  readonly records: number
  readonly searched: number
  readonly rows: number
}

/** Returns the limits of a statement. The records of one customer cannot be divided. */
function limitsOf(part: Part, bounds: Range, cost: number): Limits {
  const { records, customer, searched, rows } = REPORT_LIMITS
  if (part === 'clicks' || part === 'commission') return { records, searched, rows }
  return isOfOne(bounds)
    ? { records: customer, searched, rows }
    : { records: REPORT_STEPS.excess + cost, searched: REPORT_STEPS.searched, rows }
}

const total = (rows: readonly ReportRow[], name: string): number =>
  rows.reduce((sum, row) => sum + Number(row[name] ?? 0), 0)

/** Returns whether a statement has read and returned all that it should. */
function isWithin(rows: readonly ReportRow[], limits: Limits): boolean {
  const records = total(rows, rows[0]?.records === undefined ? 'count' : 'records')
  return (
    rows.length <= limits.rows &&
    records <= limits.records &&
    total(rows, 'searched') <= limits.searched
  )
}

/** Counts the records of each day of a range, by source. */
async function countDays(
  sources: readonly Source[],
  { from, to, first, end }: Range,
  readBatch: ReadBatch,
): Promise<Counts> {
  if (sources.length === 0) return new Map()
  const values = { from, to, first, end, records: REPORT_LIMITS.records }
  const results = await readBatch(sources.map((source) => [countDaysSql(source), values]))
  return new Map(
    sources.map((source, i) => [
      source,
      new Map((results[i] ?? []).map(({ day, count }) => [Number(day), Number(count)])),
    ]),
  )
}

/** Divides a step by its customers, at those of the source and day with the most records. */
async function divideStep(
  step: Step,
  sources: readonly Source[],
  readBatch: ReadBatch,
): Promise<Step[]> {
  const { parts, pieces, ...bounds } = step
  // Clicks have links, so they are divided by links only if they are alone.
  const customers = sources.filter((source) => source !== 'clicks')
  const counts = await countDays(customers.length > 0 ? customers : sources, bounds, readBatch)
  const days = [...counts].flatMap(([source, days]) =>
    [...days].map(([day, count]) => ({ source, day, count })),
  )
  const [largest] = days.sort((a, b) => b.count - a.count)
  if (!largest) return [{ ...step, pieces: 1 }]
  const size = Math.floor(largest.count / pieces)
  const values = { ...bounds, day: largest.day, size }
  const [rows = []] = await readBatch([[divideDaySql(largest.source), values]])
  return divide(
    { ...step, pieces: 1 },
    rows.map(({ id }) => String(id)),
  )
}

/** Records of some days, of customers with an id from `first` on and before `end`; null: without an end. */
interface Range {
  /** In days since 1970-01-01. */
  readonly from: number
  readonly to: number
  readonly first: string
  readonly end: string | null
}

/** A range of records, and what one batch reads of it. */
interface Step extends Range {
  readonly parts: readonly Part[]
  /** Roughly how many steps the reader makes of this step, by customer, before it reads them. */
  readonly pieces: number
}

/** The number of records of each day, by source. Days without records are absent. */
type Counts = ReadonlyMap<Source, ReadonlyMap<number, number>>

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
interface ReadingSchedule {
  readonly steps: Step[]
  readonly cost: number
}

/** Parts for which a customer counts once: their records are divided by customer, not by day. */
const isOfCustomers = (part: Part): boolean => part === 'active' || part === 'first_deposits'

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
const sumOf = (days: ReadonlyMap<number, number>): number =>
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
const isOfOne = ({ first, end }: Range): boolean => end === afterId(first)
