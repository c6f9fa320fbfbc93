import type { Source } from '../db/reports/dimensions.ts'
import type { ReadBatch, ReportRow } from '../db/reports/read-report.ts'
import { countDaysSql, divideDaySql } from '../db/reports/sources.ts'
import { REPORT_LIMITS, REPORT_STEPS } from './limits.ts'
import {
  type Counts,
  divide,
  isOfOne,
  type Range,
  type Step,
  scheduleSteps,
  sourcesOf,
  sumOf,
} from './schedule.ts'
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
