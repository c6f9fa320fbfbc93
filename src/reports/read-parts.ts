import type { Source } from '../db/reports/dimensions.ts'
import type { ReadBatch, ReportRow, ReportStatement } from '../db/reports/read-report.ts'
import { countDaysSql } from '../db/reports/sources.ts'
import { REPORT_LIMITS, REPORT_STEPS } from './limits.ts'
import { type Counts, divideStatement, idsOf, largestDay, planSteps } from './plan.ts'
import type { Part, Selection } from './select.ts'
import {
  afterId,
  costOf,
  countOf,
  divide,
  isOfOne,
  mostOf,
  nextSteps,
  PARTS,
  type Range,
  type Step,
} from './steps.ts'
import { tooLarge, tooManyRecords } from './too-large.ts'

/** What is done with what is read. */
export interface Use {
  /** Adds rows of a part. */
  readonly addRows: (part: Part, rows: readonly ReportRow[]) => void
  /** Called when all records before a day are added. */
  readonly endDays: (before: number) => Promise<void>
}

const sourcesOf = ({ statements, shape }: Selection): Source[] => {
  const parts = statements.map(([part]) => part)
  const sources = Object.entries(PARTS) as [Source, readonly Part[]][]
  return sources.flatMap(([source, own]) =>
    own.some((part) => parts.includes(part)) ||
    (parts.includes('active') && shape.active.includes(source))
      ? [source]
      : [],
  )
}

/** Returns the statements that count the records of a report by day. */
export const countStatements = (selection: Selection, range: Range): ReportStatement[] =>
  sourcesOf(selection).map((source) => [
    countDaysSql(source),
    { ...range, records: REPORT_LIMITS.records },
  ])

/** Returns the records of each day by source, from the rows of `countStatements`. */
export function readCounts(
  selection: Selection,
  results: readonly (readonly ReportRow[])[],
  days: Range,
): Counts {
  return new Map(
    sourcesOf(selection).map((source, i) => {
      const counts = daysOf(results[i] ?? [])
      if (countOf(counts) > REPORT_LIMITS.records) throw tooManyRecords(source, days.from, counts)
      return [source, counts]
    }),
  )
}

function daysOf(rows: readonly ReportRow[]): Map<number, number> {
  let before = 0
  const counts = new Map<number, number>()
  for (const { day, total } of rows) {
    if (Number(total) > before) counts.set(Number(day), Number(total) - before)
    before = Number(total)
  }
  return counts
}

/**
 * Reads the parts of a report in steps, each bounded by the records that it reads. What a step turns out
 * to have more is divided and read again.
 */
export async function readParts(
  selection: Selection,
  values: Readonly<Record<string, string | number>>,
  { counts, days }: { counts: Counts; days: Range },
  readBatch: ReadBatch,
  { addRows, endDays }: Use,
): Promise<{ hasEnded: boolean }> {
  const sql = new Map(selection.statements)
  const { steps, size } = await planSteps([...sql.keys()], counts, days, readBatch)
  const statementsOf = (step: Step): ReportStatement[] =>
    step.parts.map((part) => {
      const { from, to, first, end } = step
      const range = {
        from,
        to,
        first,
        end,
        step: mostOf(step, size),
        searched: searchedBy(step),
      }
      return [sql.get(part) ?? '', { ...values, ...range }]
    })
  const used = { kpis: 0, searched: 0, size }
  let [hasBegun, hasEnded] = [false, false]
  while (steps.length > 0) {
    const some = steps.splice(0, nextSteps(steps, size))
    const isOnly = !hasBegun && steps.length === 0
    const results = await readBatch(some.flatMap(statementsOf), isOnly)
    hasBegun = true
    hasEnded = isOnly
    let at = 0
    for (const step of some) {
      for (const part of step.parts) {
        const rows = results[at++] ?? []
        if (checkRows(part, rows, step, used)) addRows(part, rows)
        else steps.unshift(...(await divideStep({ ...step, parts: [part] }, readBatch)))
      }
    }
    const isLater = ({ parts }: Step) => !parts.includes('active')
    await endDays(
      Math.min(...steps.filter(isLater).map(({ from }) => from), Number.POSITIVE_INFINITY),
    )
  }
  return { hasEnded }
}

/** Returns how many days a statement may search; those of one customer cannot be divided. */
const searchedBy = (step: Step): number =>
  isOfOne(step) ? REPORT_LIMITS.searched : REPORT_STEPS.searched

/** Returns whether a statement has read all that it should; throws if it reads too much. */
function checkRows(
  part: Part,
  rows: readonly ReportRow[],
  step: Step,
  used: { kpis: number; searched: number; readonly size: number },
): boolean {
  const total = (name: string) => rows.reduce((sum, row) => sum + Number(row[name] ?? 0), 0)
  if (part === 'kpis') {
    used.kpis += total('records')
    if (used.kpis > REPORT_LIMITS.kpis) throw tooLarge('kpis')
    return true
  }
  const isWhole = total(part === 'active' ? 'records' : 'count') <= mostOf(step, used.size)
  if (!isWhole && (part !== 'active' || isOfOne(step))) throw tooLarge('customer')
  if (part !== 'first_deposits') return isWhole
  const searched = total('searched')
  if (searched > searchedBy(step) && !isOfOne(step)) return false
  used.searched += searched
  if (used.searched > REPORT_LIMITS.searched) throw tooLarge('searched')
  return true
}

/** Into how many steps one is divided that reads too much. */
const PIECES = 8

/** Divides a step that reads too much by its customers. */
async function divideStep(step: Step, readBatch: ReadBatch): Promise<Step[]> {
  const { sources } = step
  const results = await readBatch(
    sources.map((source) => [
      countDaysSql(source),
      { ...step, records: REPORT_LIMITS.records, parts: null, sources: null },
    ]),
  )
  const counts: Counts = new Map(sources.map((source, i) => [source, daysOf(results[i] ?? [])]))
  const ranges = await divideIds(step, largestDay(counts, sources, step, PIECES), readBatch)
  const cost = costOf(step.parts) * Math.max(...[...counts.values()].map(countOf))
  return ranges.map((range) => ({ ...step, ...range, cost: cost / ranges.length }))
}

async function divideIds(
  range: Range,
  large: ReturnType<typeof largestDay>,
  readBatch: ReadBatch,
): Promise<Range[]> {
  if (large === null) return [range]
  const [rows = []] = await readBatch([divideStatement(large)])
  // The first customer of the range alone may have more than a step reads.
  const bounds = idsOf(rows).map((id) => (id === range.first ? afterId(id) : id))
  return divide(range, bounds)
}
