import { ApiError } from '../../errors.ts'
import { archivedDaysSql, isArchivedSql, requireDays } from '../archive/archived.ts'
import { decode, encode } from '../column-types.ts'
import { type Column, type SumRow, sumSql, UNITS_PER_ONE, unitsOf } from '../exact-sums.ts'
import { toJsonChunks } from '../json-chunks.ts'
import { endLease, payFor, renewLease, takeLease, toSeconds, waitFor } from '../lease.ts'
import { excessOf, type KeyValue, limitBytes, MAX_PAGE_BYTES } from '../paginate.ts'
import { withD1Retry } from '../retry.ts'
import { bindStatement, compileStatement, pairs, required } from '../statement.ts'
import type { RecordView } from './list.ts'
import type { RecordTable } from './record-table.ts'
import { columnList, JSON_EACH, rowValue } from './sql-fragments.ts'

/** The count and the sums of one group, in units, while the records of its day are summed. */
interface GroupSums {
  readonly values: readonly (string | null)[]
  count: number
  /** By the position of the column; undefined if no record has a value. */
  readonly sums: (bigint | undefined)[]
  readonly kpis: Map<string, bigint>
}

/** The sums of one day of a resource, put together from one or more steps. */
interface DaySums {
  readonly groups: Map<string, GroupSums>
  /** The number of KPI sums. */
  kpiCount: number
  /** The characters of the names of groups and KPIs: a lower bound of the size of the totals. */
  characters: number
}

/**
 * A group of a day as it is kept: the values of its group columns, the number of records, the sum of
 * each column or null if no record has a value, and the sum of each KPI. Sums are decimal text.
 */
export type KeptGroup = [
  values: (string | null)[],
  count: number,
  sums: (string | null)[],
  kpis: Record<string, string>,
]

/** Returns the sums of a day of which no record was summed yet. */
export const emptySums = (): DaySums => ({ groups: new Map(), kpiCount: 0, characters: 0 })

/** What control totals group by, and what they sum. */
export type SummedColumns = Pick<RecordView, 'groups' | 'sums' | 'kpis'>

/** Adds a row of `sumStepSql` to the sums of its day. */
export function addSums(day: DaySums, view: RecordView, row: SumRow): void {
  const group = groupOf(day, view, row)
  group.count += Number(row.count)
  for (const [i, name] of view.sums.entries()) {
    if (row[name] !== null) group.sums[i] = (group.sums[i] ?? 0n) + unitsOf(row[name])
  }
}

/** Adds a row of `sumKpisStepSql` to the sums of its day. */
export function addKpi(day: DaySums, view: RecordView, row: SumRow): void {
  addToKpi(day, groupOf(day, view, row), String(row.kpi), unitsOf(row.sum))
}

function addToKpi(day: DaySums, { kpis }: GroupSums, name: string, units: bigint): void {
  const sum = kpis.get(name)
  if (sum === undefined) {
    day.kpiCount += 1
    day.characters += name.length
  }
  kpis.set(name, (sum ?? 0n) + units)
}

function groupOf(day: DaySums, { groups }: RecordView, row: SumRow): GroupSums {
  const values = groups.map((name) => row[name] as string | null)
  return findGroup(day, JSON.stringify(values), values)
}

/** Returns the group of these values; a new one if the day has none. */
function findGroup(day: DaySums, key: string, values: GroupSums['values']): GroupSums {
  const known = day.groups.get(key)
  if (known) return known
  const group: GroupSums = { values, count: 0, sums: [], kpis: new Map() }
  day.groups.set(key, group)
  day.characters += key.length
  return group
}

/** Adds the sums of a later step to those of the same day. */
export function mergeSums(day: DaySums, later: DaySums): void {
  for (const [key, { values, count, sums, kpis }] of later.groups) {
    const group = findGroup(day, key, values)
    group.count += count
    for (const [i, sum] of sums.entries()) {
      if (sum !== undefined) group.sums[i] = (group.sums[i] ?? 0n) + sum
    }
    for (const [name, sum] of kpis) addToKpi(day, group, name, sum)
  }
}

/** Returns the sums of a day as they are kept, in the order of the groups and of the KPI names. */
export const toKeptGroups = ({ groups }: DaySums, view: Pick<SummedColumns, 'sums'>): KeptGroup[] =>
  [...groups.values()]
    .sort((a, b) => compareValues(a.values, b.values))
    .map(({ values, count, sums, kpis }) => [
      [...values],
      count,
      view.sums.map((_, i) => decimalText(sums[i])),
      Object.fromEntries(
        [...kpis]
          .sort(([a], [b]) => compare(a, b))
          .map(([name, sum]): [string, string] => [name, decimalText(sum)]),
      ),
    ])

/** Returns the sums of a day from the form in which they are kept. */
export function fromKeptGroups(kept: readonly KeptGroup[]): DaySums {
  const day = emptySums()
  for (const [values, count, sums, kpis] of kept) {
    const group = findGroup(day, JSON.stringify(values), values)
    group.count = count
    group.sums.push(...sums.map((sum) => (sum === null ? undefined : toUnits(sum))))
    for (const [name, sum] of Object.entries(kpis)) addToKpi(day, group, name, toUnits(sum))
  }
  return day
}

const UNIT_PLACES = 12

/** Returns a decimal text in units of 10^-12. */
function toUnits(text: string): bigint {
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(UNIT_PLACES, '0'))
}

/** Compares the values of two groups by the first that differs. */
function compareValues(a: readonly (string | null)[], b: readonly (string | null)[]): number {
  const i = a.findIndex((value, n) => value !== b[n])
  return compare(a[i] ?? null, b[i] ?? null)
}

/** Compares values that differ, as SQL does: null comes first. */
function compare(a: string | null, b: string | null): number {
  if (a === null) return -1
  return b === null || a > b ? 1 : -1
}

/** Returns a number of units as decimal text, without zeros at the end of the fraction. */
function decimalText(units: bigint): string
function decimalText(units: bigint | undefined): string | null
function decimalText(units: bigint | undefined): string | null {
  if (units === undefined) return null
  const size = units < 0n ? -units : units
  const places = String(size % UNITS_PER_ONE)
    .padStart(12, '0')
    .replace(/0+$/, '')
  return `${units < 0n ? '-' : ''}${size / UNITS_PER_ONE}${places && `.${places}`}`
}

/** The largest totals of a resource in a response, in bytes. */
export const MAX_BYTES = MAX_PAGE_BYTES

/** The size of the totals of one resource in a response. */
interface AnswerSize {
  readonly groups: number
  readonly kpis: number
  readonly bytes: number
}

/** Returns a size with the groups of a day added to it, or with `sign` -1 subtracted from it. */
export function addToSize(
  size: AnswerSize,
  groups: readonly KeptGroup[],
  bytes: number,
  sign: 1 | -1 = 1,
): AnswerSize {
  const kpis = groups.reduce((sum, [, , , ofGroup]) => sum + Object.keys(ofGroup).length, 0)
  return {
    groups: size.groups + sign * groups.length,
    kpis: size.kpis + sign * kpis,
    bytes: size.bytes + sign * bytes,
  }
}

/** Whether a response may not have totals of this size. */
export const isTooLarge = ({ groups, kpis, bytes }: AnswerSize): boolean =>
  groups > MAX_TOTALS || kpis > MAX_TOTALS || bytes > MAX_BYTES

/** The maximum number of groups, and of sums of KPIs, that a response has of one resource. */
export const MAX_TOTALS = 50_000

/**
 * Returns a query for the days from `:first_day` to `:last_day` that have records, with the kept totals of
 * each, or null if the day must be summed. The totals must have at most `maxBytes` together. It reads a
 * few rows for each day and none of its records.
 */
export function keptDaysSql({ recordTable }: RecordView, maxBytes?: number): string {
  const { dayColumn } = recordTable
  const firstDay = (condition: string) =>
    `select min(${dayColumn}) from ${recordsByDay(recordTable)}
        where account = :account and ${dayColumn} <= :last_day and ${dayColumn} ${condition}`
  return limitBytes(
    ['day', 'totals', 'archived'],
    `with recursive days(stored_day) as (
        ${firstDay('>= :first_day')}
        union all
        select (${firstDay('> stored_day')}) from days where stored_day is not null
      )
      select d.stored_day as day, totals, ${isArchivedSql(':resource', 'd.stored_day')} as archived
      from (select stored_day from days where stored_day is not null union ${archivedDaysSql(':resource')}) d
      left join day_totals k on k.account = :account and k.resource = :resource
        and k.day = d.stored_day and k.form = :form`,
    'day',
    maxBytes,
  )
}

/**
 * Returns a query for the last of the next `:step` records: the columns of `stepKey`. It returns no
 * row if there are fewer.
 */
export const stepEndSql = ({ recordTable }: RecordView): string =>
  `select ${columnList(stepKey(recordTable))} from ${nextRecords(recordTable)}
      limit 1 offset :step - 1`

/** Sums the columns of each group and day of the next `:step` records. */
export const sumStepSql = (view: RecordView): string =>
  groupedSql(
    view,
    nextRecords(view.recordTable),
    [...view.groups, ...view.sums],
    groupColumns(view),
    [['count', 'count(*)'], ...view.sums.map((name): Column => [name, sumSql(name)])],
  )

/** Sums each KPI of each group and day of the next `:step` records by its name. */
export const sumKpisStepSql = (view: RecordView, kpis: string): string =>
  groupedSql(
    view,
    nextRecords(view.recordTable),
    [...view.groups, kpis],
    [...groupColumns(view), ['kpi', 'k.key']],
    [['sum', sumSql('k.value')]],
    `cross join json_each(${kpis}) k`,
  )

/** Returns the columns that order the records of an account by day, each record once. */
export const stepKey = ({ dayColumn, key }: RecordTable): string[] => [
  ...new Set([dayColumn, 'customer_id', ...key]),
]

/** Finds the records after `:after_0`, `:after_1` … up to `:last_day`, in the order of `stepKey`. */
function nextRecords(recordTable: RecordTable): string {
  const key = stepKey(recordTable)
  return `${recordsByDay(recordTable)}
        where account = :account and ${recordTable.dayColumn} <= :last_day
          and ${rowValue(key, (name) => name)} > (${key.map((_, i) => `:after_${i}`).join(', ')})
        order by ${columnList(key)}`
}

/**
 * Returns a query that groups the next records by columns. Held records count as records of the step
 * and are not summed. It reads one group more than a response may have.
 */
function groupedSql(
  { recordTable: { dayColumn, canHold } }: RecordView,
  records: string,
  columns: readonly string[],
  groups: readonly Column[],
  aggregates: readonly Column[],
  join = '',
): string {
  const results = [...groups, ...aggregates]
  const read = [dayColumn, ...(canHold ? ['held'] : []), ...columns]
  return limitBytes(
    results.map(([name]) => name),
    `select ${results.map(([name, sql]) => `${sql} as ${name}`).join()}
      from (select ${columnList(read)} from ${records}
        limit :step) ${join}
      ${canHold ? 'where held = 0' : ''}
      group by ${groups.map(([, sql]) => sql).join()} limit ${MAX_TOTALS + 1}`,
    'day',
  )
}

const groupColumns = ({ recordTable, groups }: RecordView): readonly Column[] => [
  ['day', recordTable.dayColumn],
  ...groups.map((name): Column => [name, name]),
]

/**
 * Returns the records of a table in the order of their days. Left to itself the planner may choose another index,
 * and sort.
 */
export const recordsByDay = ({ table, indexes }: RecordTable) =>
  `${table} ${indexes.day ? `indexed by ${indexes.day}` : 'not indexed'}`

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
interface StepRange {
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
    isTooLarge: [sums, kpis].some(exceedsLimits),
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

const exceedsLimits = (rows: readonly SumRow[]) =>
  rows.length > MAX_TOTALS || excessOf(rows) !== null

/** Returns the number of the statements of a step. */
const stepLength = ({ kpis }: RecordView): number => (kpis ? 3 : 2)

/**
 * How many full steps one computation makes before it stops between two days: about 2 s of the
 * database's time. The totals of the days before are kept, so that the next one goes on from there.
 */
const MAX_STEPS = 100

/** How often a day is summed that changes meanwhile. */
export const MAX_ATTEMPTS = 3

/** Days of one resource without a kept day between them. They are summed in order, in steps. */
export interface Run {
  readonly view: RecordView
  /** The days that are not summed yet, in order. */
  days: readonly number[]
  /** The position of the last record that was summed. */
  after: readonly KeyValue[]
  readonly attempt: number
  /** Whether the days are marked, so that a change of a day is noticed. */
  isMarked: boolean
  /** The sums of the first records of the first day, if a step ended within that day. */
  partial: { readonly day: number; readonly sums: DaySums } | null
}

/** A day that is summed. */
interface SummedDay {
  readonly run: Run
  readonly day: number
  readonly groups: readonly KeptGroup[]
  readonly totals: string
  readonly bytes: number
  /** Whether one step summed it: then the sums are right even if the day changes before they are kept. */
  readonly isSnapshot: boolean
}

/** The groups of each day, by resource. */
type GroupsByDay = Map<RecordView, Map<number, readonly KeptGroup[]>>

/** The sizes of the totals in a response, by resource. */
export type Sizes = Map<RecordView, AnswerSize>

/** What a computation has summed so far, and what is left. */
export interface Progress {
  /** The runs that are not done. */
  runs: readonly Run[]
  /** The days that were summed and wait to be kept by the next batch. */
  pending: SummedDay[]
  readonly groups: GroupsByDay
  readonly sizes: Sizes
  /** The days whose marks must be removed, because they are not summed. */
  readonly abandoned: { readonly view: RecordView; readonly days: readonly number[] }[]
  /** The number of full steps. */
  steps: number
  /** `summed`, or why the response lacks some days. */
  state: 'summed' | 'too_large' | 'unfinished' | 'changing'
}

/** Returns a run of days that follow each other. */
const newRun = (view: RecordView, days: readonly number[], attempt = 1): Run => ({
  view,
  days,
  after: startOfDay(view, required(days[0], 'day')),
  attempt,
  isMarked: false,
  partial: null,
})

/** Returns the progress of a computation that begins; `sizes` is the size of the rest of the response. */
export const newProgress = (runs: readonly Run[], sizes: Sizes): Progress => ({
  runs,
  pending: [],
  groups: new Map(),
  sizes: new Map(sizes),
  abandoned: [],
  steps: 0,
  state: 'summed',
})

/** Adds what a step has summed to its run. The days that the step completes wait to be kept. */
function applyStep(progress: Progress, run: Run, step: Step): void {
  const { view, partial, days } = run
  progress.steps += step.records / stepSize(view)
  if (step.isTooLarge) progress.state = 'too_large'
  if (progress.state === 'too_large') return
  const endDay = step.end ? Number(step.end[0]) : Number.POSITIVE_INFINITY
  const sumsOf = (day: number) => {
    const sums = step.days.get(day) ?? emptySums()
    if (partial?.day !== day) return sums
    mergeSums(partial.sums, sums)
    return partial.sums
  }
  for (const day of days) {
    if (day >= endDay) break
    addDay(progress, run, day, sumsOf(day), partial?.day !== day)
  }
  run.days = days.filter((day) => day >= endDay)
  run.partial = run.days[0] === endDay ? { day: endDay, sums: sumsOf(endDay) } : null
  if (step.end) run.after = step.end
  if (run.partial && run.partial.sums.characters > MAX_BYTES) progress.state = 'too_large'
}

/** Adds a day to the response, and to the days that wait to be kept. */
function addDay(
  progress: Progress,
  run: Run,
  day: number,
  sums: DaySums,
  isSnapshot: boolean,
): void {
  const { view } = run
  const groups = toKeptGroups(sums, view)
  const totals = JSON.stringify(groups)
  const bytes = new TextEncoder().encode(totals).length
  const size = addToSize(required(progress.sizes.get(view), 'size'), groups, bytes)
  progress.sizes.set(view, size)
  if (isTooLarge(size)) progress.state = 'too_large'
  const days = progress.groups.get(view) ?? new Map<number, readonly KeptGroup[]>()
  progress.groups.set(view, days.set(day, groups))
  progress.pending.push({ run, day, groups, totals, bytes, isSnapshot })
}

/** Has a day summed again that changed between two of its steps. */
export function sumAgain(progress: Progress, { run, day, groups, bytes }: SummedDay): void {
  const { view, attempt } = run
  progress.groups.get(view)?.delete(day)
  const size = required(progress.sizes.get(view), 'size')
  progress.sizes.set(view, addToSize(size, groups, bytes, -1))
  if (progress.state !== 'summed') return
  if (attempt < MAX_ATTEMPTS) {
    progress.runs = [...progress.runs, newRun(view, [day], attempt + 1)]
  } else progress.state = 'changing'
}

/**
 * Drops the runs that are done, and gives up days that are not summed: all if the response is too large,
 * and after too many steps all but those that are summed in part.
 */
export function dropRuns(progress: Progress): void {
  const isTooLong = progress.steps >= MAX_STEPS
  const mustStop = isTooLong || progress.state === 'too_large'
  for (const run of mustStop ? progress.runs : []) {
    const goesOn = (day: number) => progress.state !== 'too_large' && run.partial?.day === day
    const days = run.days.filter((day) => !goesOn(day))
    if (days.length === 0) continue
    if (run.isMarked) progress.abandoned.push({ view: run.view, days })
    run.days = run.days.filter(goesOn)
    if (progress.state === 'summed') progress.state = 'unfinished'
  }
  progress.runs = progress.runs.filter(({ days }) => days.length > 0)
}

/** How many times larger the steps of the last attempt are: a day may change between two of them. */
const LAST_STEP_FACTOR = 5

/** The largest totals of a day that are kept, in bytes. D1 allows 2,000,000 bytes in a value. */
const MAX_KEPT_BYTES = 512 * 1024

/** A computation that holds the lease of an account. */
export interface Computation {
  readonly session: D1DatabaseSession
  readonly account: string
  readonly id: string
  /** When the account has paid for its earlier computations, in milliseconds. */
  readonly paidAt: number
}

/** The result of a computation: the groups, or why there are none and for how long the account waits. */
export type Outcome =
  | { readonly state: 'summed'; readonly groups: GroupsByDay }
  | { readonly state: 'too_large' }
  | { readonly state: 'unfinished' | 'changing'; readonly pauseMs: number }

/** A computation as it runs. */
interface Running {
  readonly computation: Computation
  readonly progress: Progress
  databaseMs: number
  /** Whether the lease has been ended. */
  hasEnded: boolean
}

/**
 * Sums the days of runs in steps, and keeps the totals of those days that do not change meanwhile.
 * `sizes` is the size of the rest of the response. Ends the lease of the computation.
 */
async function sumDays(
  computation: Computation,
  runs: readonly Run[],
  sizes: Sizes,
): Promise<Outcome> {
  const progress = newProgress(runs, sizes)
  const running: Running = { computation, progress, databaseMs: 0, hasEnded: false }
  try {
    while (progress.runs.length > 0 || progress.pending.length > 0) await runBatch(running)
  } finally {
    if (!running.hasEnded)
      await withD1Retry(() => computation.session.batch(endStatements(running)))
  }
  const { state, groups } = progress
  if (state === 'summed') return { state, groups }
  if (state === 'too_large') return { state }
  const now = Date.now()
  return { state, pauseMs: waitFor(payFor(computation.paidAt, running.databaseMs, now), now) }
}

/** A statement of a batch, and what to do with its rows. */
interface Task {
  readonly statement: D1PreparedStatement
  readonly use?: (rows: Record<string, unknown>[]) => void
}

/** Keeps the days that the batch before has summed, and makes the next steps. */
async function runBatch(running: Running): Promise<void> {
  const { computation, progress } = running
  const { session, account, id } = computation
  const { pending } = progress
  progress.pending = []
  // Only a day of several steps may have to be summed again.
  const isLast = progress.runs.length === 0 && pending.every(({ isSnapshot }) => isSnapshot)
  const isKept = new Set<SummedDay>()
  const runs = nextRuns(progress.runs)
  const now = Date.now()
  const lease = isLast ? endStatements(running) : [renewLease(session, account, id, now)]
  const tasks: Task[] = [
    ...keepTasks(computation, pending, isKept, now),
    ...lease.map((statement) => ({ statement })),
    ...runs.flatMap((run) => stepTasks(running, run, runs.length, now)),
  ]
  const results = await withD1Retry(() =>
    session.batch<Record<string, unknown>>(tasks.map(({ statement }) => statement)),
  )
  running.hasEnded = isLast
  for (const [i, { results: rows, meta }] of results.entries()) {
    running.databaseMs += meta.duration
    tasks[i]?.use?.(rows)
  }
  for (const day of pending) if (!day.isSnapshot && !isKept.has(day)) sumAgain(progress, day)
  dropRuns(progress)
}

/** Returns the runs whose steps the next batch makes. The last attempt of a day is alone. */
function nextRuns(runs: readonly Run[]): readonly Run[] {
  const last = runs.find(({ attempt }) => attempt === MAX_ATTEMPTS)
  return last ? [last] : runs.slice(0, STEPS_PER_BATCH)
}

/** Returns the statements that keep what was summed; days with large totals are summed each time. */
function keepTasks(
  { session, account, id }: Computation,
  pending: readonly SummedDay[],
  isKept: Set<SummedDay>,
  now: number,
): Task[] {
  return [...Map.groupBy(pending, ({ run }) => run.view)].flatMap(([view, days]) => {
    const scope = { session, account, view, computation: id }
    const small = days.filter(({ bytes }) => bytes <= MAX_KEPT_BYTES)
    const large = days.filter(({ bytes }) => bytes > MAX_KEPT_BYTES).map(({ day }) => day)
    const statements = [
      ...keepDays(
        scope,
        small.map(({ day, totals }) => [day, totals] as const),
        now,
      ),
      ...(large.length > 0 ? [dropDays(scope, large)] : []),
    ]
    const use: Task['use'] = (rows) => {
      const unchanged = new Set(rows.map(({ day }) => day))
      for (const summed of days) if (unchanged.has(summed.day)) isKept.add(summed)
    }
    return statements.map((statement) => ({ statement, use }))
  })
}

/** Returns the statements of the next step of a run; the first step also marks the days. */
function stepTasks(
  { computation, progress }: Running,
  run: Run,
  runsInBatch: number,
  now: number,
): Task[] {
  const { session, account, id } = computation
  const { view, after, days, attempt } = run
  const factor = attempt === MAX_ATTEMPTS ? LAST_STEP_FACTOR : 1
  const size = Math.floor((stepSize(view) * factor) / runsInBatch)
  const range = { account, after, lastDay: required(days.at(-1), 'day'), size }
  const marks = run.isMarked
    ? []
    : [beginDays({ session, account, view, computation: id }, days, now)]
  run.isMarked = true
  const found: Record<string, unknown>[][] = []
  const use: Task['use'] = (rows) => {
    found.push(rows)
    if (found.length === stepLength(view)) applyStep(progress, run, readStep(view, size, found))
  }
  return [
    ...marks.map((statement) => ({ statement })),
    ...stepStatements(session, view, range).map((statement) => ({ statement, use })),
  ]
}

/** Returns the statements that end the lease and remove the marks of days that were not summed. */
function endStatements({ computation, progress, databaseMs }: Running): D1PreparedStatement[] {
  const { session, account, id, paidAt } = computation
  return [
    ...progress.abandoned.map(({ view, days }) =>
      dropDays({ session, account, view, computation: id }, days),
    ),
    endLease(session, account, id, payFor(paidAt, databaseMs, Date.now())),
  ]
}

/** A day with records: its number, and its kept totals as JSON; null if it must be summed. */
export interface KeptDay {
  day: number
  totals: string | null
  /** 1 if the records are archived; they cannot be summed then. */
  archived: number
}

/** Marks days as being summed. Until their totals are kept, each change of a day deletes its row. */
export const BEGIN_DAYS = compileStatement(`
  insert into day_totals (account, resource, day, form, computation, checked_at)
  select :account, :resource, value, :form, :computation, :now from ${JSON_EACH}(:days) where true
  on conflict (account, resource, day) do update set
    form = excluded.form, totals = null, computation = excluded.computation`)

/**
 * Keeps the totals of the days that have not changed since they were marked, and returns these. It is
 * an insert, because the plan of an `update … from` reads every kept day of the resource.
 */
export const KEEP_DAYS = compileStatement(`
  insert into day_totals (account, resource, day, form, totals, computation, checked_at, records)
  select k.account, k.resource, k.day, k.form, r.value ->> 1, null, :now,
    (select coalesce(sum(g.value ->> 1), 0) from ${JSON_EACH}(r.value ->> 1) g)
  from ${JSON_EACH}(:rows) r cross join day_totals k
    on k.account = :account and k.resource = :resource and k.day = r.value ->> 0
      and k.computation = :computation
  where true on conflict (account, resource, day) do update set
    totals = excluded.totals, computation = null, checked_at = excluded.checked_at,
    records = excluded.records
  returning day`)

/** Removes the marks of the days that have not changed, and returns these. */
export const DROP_DAYS = compileStatement(`
  delete from day_totals
  where account = :account and resource = :resource
    and day in (select value from ${JSON_EACH}(:days)) and computation = :computation
  returning day`)

/** Returns what the kept totals of a resource consist of; totals of another form are not read. */
export const formOf = ({ groups, sums, kpis = '' }: SummedColumns): string =>
  JSON.stringify([groups, sums, kpis])

/** The days of each resource, or the bytes of their totals if these are more than was asked for. */
type FoundDays = { days: KeptDay[][] } | { excess: number[] }

/** Returns the days of each resource that have records, in order, with totals of at most `maxBytes`. */
async function readKeptTotals(
  session: D1DatabaseSession,
  views: readonly RecordView[],
  account: string,
  from: string,
  to: string,
  maxBytes: number,
): Promise<FoundDays> {
  const results = await withD1Retry(() =>
    session.batch<KeptDay & { excess: number | null }>(
      views.map((view) => {
        const { encoded, dayColumn } = view.recordTable
        const [first_day, last_day] = [from, to].map((day) => encode(encoded[dayColumn], day))
        const values = { account, resource: view.name, form: formOf(view), first_day, last_day }
        return bindStatement(session, compileStatement(keptDaysSql(view, maxBytes)), values)
      }),
    ),
  )
  const days = results.map((result) => result.results)
  const excess = days.flatMap((rows) => excessOf(rows as never)?.bytes ?? [])
  return excess.length > 0 ? { excess } : { days }
}

/** What identifies the days of a resource that a computation sums. */
interface DaysScope {
  readonly session: D1DatabaseSession
  readonly account: string
  readonly view: RecordView
  readonly computation: string
}

/** Marks days as being summed. */
const beginDays = (
  { session, account, view, computation }: DaysScope,
  days: readonly number[],
  now: number,
): D1PreparedStatement =>
  bindStatement(session, BEGIN_DAYS, {
    account,
    resource: view.name,
    form: formOf(view),
    computation,
    now,
    days: JSON.stringify(days),
  })

/** Keeps the totals of days; each statement returns the days that have not changed. */
const keepDays = (
  { session, account, view, computation }: DaysScope,
  totals: readonly (readonly [day: number, totals: string])[],
  now: number,
): D1PreparedStatement[] =>
  toJsonChunks(totals.map((row) => [...row])).map((rows) =>
    bindStatement(session, KEEP_DAYS, { account, resource: view.name, computation, now, rows }),
  )

/** Removes the marks of days; the statement returns the days that have not changed. */
const dropDays = (
  { session, account, view, computation }: DaysScope,
  days: readonly number[],
): D1PreparedStatement =>
  bindStatement(session, DROP_DAYS, {
    account,
    resource: view.name,
    computation,
    days: JSON.stringify(days),
  })

/** The control total of one group and day; sums are exact decimal text. */
export interface Total extends Record<string, unknown> {
  day: string
  resource: string
  count: number
  sums: Record<string, string>
}

type Query = readonly [
  session: D1DatabaseSession,
  views: readonly RecordView[],
  account: string,
  from: string,
  to: string,
  reserveMemory: (bytes: number) => Promise<void>,
]

/** How long a request waits for another computation of its account, try by try, in milliseconds. */
const WAITS_MS = [100, 200, 400, 800]

/**
 * Reads the control totals of each day from `from` to `to`, both inclusive, in order; null if there
 * are too many. Days that have not changed since they were last summed are read as they were kept.
 * The others are summed from their records, by one computation of an account at a time. A request
 * that meets another one waits a little: what that one sums is kept, and then need not be summed.
 * `reserveMemory` waits until that many bytes of kept totals may be read.
 *
 * @throws ApiError `rate_limited` if another computation goes on or was long, and `unavailable` if
 * the days are too many to be summed at once, or if records of a day are written all the time.
 */
export async function readTotals(...query: Query): Promise<Total[] | null> {
  for (const wait of WAITS_MS) {
    try {
      return await tryReadTotals(...query)
    } catch (error) {
      if (!(error instanceof ComputationRuns)) throw error
      await scheduler.wait(wait)
    }
  }
  return tryReadTotals(...query)
}

/** Thrown while another computation of the account runs. */
class ComputationRuns extends ApiError {}

async function tryReadTotals(...query: Query): Promise<Total[] | null> {
  const [session, views, account] = query
  const days = await readDays(...query)
  if (!days) return null
  await requireRecords(session, account, views, days)
  const groups: GroupsByDay = new Map()
  const sizes: Sizes = new Map()
  const runs: Run[] = []
  for (const [i, view] of views.entries()) {
    const daysOfView = required(days[i], 'result')
    const kept = parseKept(daysOfView)
    groups.set(view, kept.groups)
    sizes.set(view, kept.size)
    if (isTooLarge(kept.size)) return null
    runs.push(...runsOf(view, daysOfView))
  }
  if (runs.length > 0) {
    const summed = await sumWithLease(session, account, runs, sizes)
    if (!summed) return null
    for (const [view, byDay] of summed) {
      for (const [day, found] of byDay) groups.get(view)?.set(day, found)
    }
  }
  return [...groups]
    .flatMap(([view, byDay]) =>
      [...byDay].flatMap(([day, found]) => found.map((group) => presentTotal(view, day, group))),
    )
    .sort((a, b) => (a.day < b.day ? -1 : a.day > b.day ? 1 : 0))
}

/**
 * Throws if a day must be summed whose records are archived. Their totals were kept when they left.
 *
 * @throws MonthArchived
 */
async function requireRecords(
  session: D1DatabaseSession,
  account: string,
  views: readonly RecordView[],
  days: readonly (readonly KeptDay[])[],
): Promise<void> {
  const needed = pairs(views, days).map(([{ name: resource }, found]) => ({
    resource,
    days: found.filter((one) => one.archived && one.totals === null).map(({ day }) => day),
  }))
  if (needed.some((one) => one.days.length > 0)) await requireDays(session, account, needed)
}

/** How many bytes of kept totals a resource may have without memory reserved. */
const SMALL_BYTES = 32 * 1024

/** Returns the kept totals, for which it holds memory if they are large; null if they are too large. */
async function readDays(...query: Query): Promise<KeptDay[][] | null> {
  const [session, views, account, from, to, reserveMemory] = query
  const read = (maxBytes: number) => readKeptTotals(session, views, account, from, to, maxBytes)
  let found = await read(SMALL_BYTES)
  while ('excess' in found) {
    const largest = Math.max(...found.excess)
    if (largest > MAX_BYTES) return null
    await reserveMemory(views.length * largest)
    found = await read(largest)
  }
  return found.days
}

function parseKept(days: readonly KeptDay[]) {
  const groups = new Map<number, KeptGroup[]>()
  let size: AnswerSize = { groups: 0, kpis: 0, bytes: 0 }
  for (const { day, totals } of days) {
    if (totals === null) continue
    const parsed: KeptGroup[] = JSON.parse(totals)
    groups.set(day, parsed)
    size = addToSize(size, parsed, totals.length)
  }
  return { groups, size }
}

/** Returns the runs of days that must be summed. A kept day ends a run. */
function runsOf(view: RecordView, days: readonly KeptDay[]): Run[] {
  const runs: number[][] = [[]]
  for (const { day, totals } of days) {
    if (totals !== null) runs.push([])
    else runs.at(-1)?.push(day)
  }
  return runs.filter(({ length }) => length > 0).map((run) => newRun(view, run))
}

/** Sums days as the only computation of the account; returns null if the totals are too large. */
async function sumWithLease(
  session: D1DatabaseSession,
  account: string,
  runs: readonly Run[],
  sizes: Sizes,
): Promise<GroupsByDay | null> {
  const now = Date.now()
  const id = crypto.randomUUID()
  const lease = await takeLease(session, account, id, now)
  if ('retryAfter' in lease) {
    const { isRunning, retryAfter } = lease
    const refused = refusal('rate_limited', BUSY, retryAfter)
    throw isRunning ? new ComputationRuns(refused.code, refused.details) : refused
  }
  const { paidAt } = lease
  const outcome = await sumDays({ session, account, id, paidAt }, runs, sizes)
  if (outcome.state === 'summed') return outcome.groups
  if (outcome.state === 'too_large') return null
  const detail = outcome.state === 'unfinished' ? UNFINISHED : CHANGING
  throw refusal('unavailable', detail, toSeconds(outcome.pauseMs))
}

const BUSY =
  'Some of these days have changed and must be summed again. One such request of an account runs at a time, and after a long one there is a pause.'

const UNFINISHED =
  'These days have too many changed records to be summed in one request. The days that were summed are kept.'

const CHANGING = 'Records of one of these days are being written right now.'

const refusal = (code: 'rate_limited' | 'unavailable', detail: string, seconds: number) =>
  new ApiError(code, {
    detail: `${detail}`,
    headers: { 'Retry-After': String(seconds) },
    cause: new Error(detail),
  })

function presentTotal(view: RecordView, day: number, group: KeptGroup): Total {
  const { name, recordTable } = view
  return {
    day: String(decode(recordTable.encoded[recordTable.dayColumn], day)),
    resource: name,
    ...presentGroup(view, group),
  }
}

/** Returns a group under the names of the wire: its values, the number of its records, and the sums. */
export function presentGroup(
  { groups, sums: summed, wire = {} }: SummedColumns & Pick<RecordView, 'wire'>,
  [values, count, sums, kpis]: KeptGroup,
) {
  const wireName = (column: string) => wire[column] ?? column
  const presentSums = summed.flatMap((sum, i) => {
    const text = sums[i] ?? null
    return text === null ? [] : [[wireName(sum), text] as const]
  })
  return {
    ...Object.fromEntries(groups.map((column, i) => [wireName(column), values[i] ?? null])),
    count,
    sums: Object.fromEntries([...presentSums, ...Object.entries(kpis)]) as Record<string, string>,
  }
}
