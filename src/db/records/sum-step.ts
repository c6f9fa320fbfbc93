import { required } from '../batch.ts'
import type { KeyValue } from '../paginate.ts'
import { excessOf } from '../paginate.ts'
import { bindStatement, compileStatement } from '../statement.ts'
import { addKpi, addSums, type DaySums, emptySums, type SumRow } from './day-sums.ts'
import type { RecordView } from './record-view.ts'
import { MAX_TOTALS, stepEndSql, stepKey, sumKpisStepSql, sumStepSql } from './totals-sql.ts'

// D1 runs one query of a database after the other, so that a long one would hold up every account of
// it. A step sums so few records that it takes less than about 25 ms.

/** The maximum number of records that a step sums, of a resource without KPIs and of one with KPIs. */
const STEP_RECORDS = 10_000
const KPI_STEP_RECORDS = 500

/** Steps of different runs that one batch makes; together they sum as many records as one step. */
export const STEPS_PER_BATCH = 4

/** Returns the maximum number of records of a resource that a step sums. */
export const stepSize = ({ kpis }: RecordView): number => (kpis ? KPI_STEP_RECORDS : STEP_RECORDS)

/** The records that a step sums: at most `size`, after a position and up to a day. */
export interface StepRange {
  readonly account: string
  readonly after: readonly KeyValue[]
  readonly lastDay: number
  readonly size: number
}

/** What a step has summed. */
export interface Step {
  readonly days: ReadonlyMap<number, DaySums>
  /** The position of its last record; null if no record of the range is left. */
  readonly end: readonly KeyValue[] | null
  /** The number of records, without held ones unless the step is full. */
  readonly records: number
  /** Whether the sums are too large for a response. */
  readonly isTooLarge: boolean
}

/** Returns the position before all records of a day. */
export const startOfDay = ({ recordTable }: RecordView, day: number): readonly KeyValue[] =>
  stepKey(recordTable).map((_, i) => (i === 0 ? day : ''))

/** Returns the statements of a step, in the order in which `readStep` reads their results. */
export function stepStatements(
  session: D1DatabaseSession,
  view: RecordView,
  { account, after, lastDay, size }: StepRange,
): D1PreparedStatement[] {
  const values = {
    account,
    last_day: lastDay,
    step: size,
    ...Object.fromEntries(after.map((value, i) => [`after_${i}`, value])),
  }
  return [
    stepEndSql(view),
    sumStepSql(view),
    ...(view.kpis ? [sumKpisStepSql(view, view.kpis)] : []),
  ].map((sql) => bindStatement(session, compileStatement(sql), values))
}

/** Returns what a step has summed, from the rows of its statements. */
export function readStep(view: RecordView, size: number, rows: readonly SumRow[][]): Step {
  const [end, sums] = [required(rows[0], 'result'), required(rows[1], 'result')]
  const kpis = rows[2] ?? []
  const days = new Map<number, DaySums>()
  const last = end[0]
  const step = {
    days,
    end: last ? stepKey(view.recordTable).map((name) => last[name] as KeyValue) : null,
    records: last ? size : sums.reduce((total, { count }) => total + Number(count), 0),
    isTooLarge: [sums, kpis].some(isTooLarge),
  }
  if (step.isTooLarge) return step
  const sumsOf = (row: SumRow) => {
    const day = Number(row.day)
    const known = days.get(day) ?? emptySums()
    days.set(day, known)
    return known
  }
  for (const row of sums) addSums(sumsOf(row), view, row)
  for (const row of kpis) addKpi(sumsOf(row), view, row)
  return step
}

const isTooLarge = (rows: readonly SumRow[]) => rows.length > MAX_TOTALS || excessOf(rows) !== null

/** Returns the number of the statements of a step. */
export const stepLength = ({ kpis }: RecordView): number => (kpis ? 3 : 2)
