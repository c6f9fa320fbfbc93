import type { KeyValue } from '../paginate.ts'
import { withD1Retry } from '../retry.ts'
import { type DaySums, emptySums, type KeptGroup, mergeSums, toKeptGroups } from './day-sums.ts'
import { beginDays, dropDays, keepDays } from './kept-days.ts'
import type { RecordView } from './record-view.ts'
import {
  readStep,
  STEPS_PER_BATCH,
  type Step,
  startOfDay,
  stepLength,
  stepSize,
  stepStatements,
} from './sum-step.ts'
import { endLease, pauseAfter, renewLease } from './totals-lease.ts'
import { type AnswerSize, addToSize, isTooLarge, MAX_BYTES } from './totals-size.ts'

/**
 * How many full steps one computation makes before it stops between two days: about 2 s of the
 * database's time. The totals of the days before are kept, so that the next one goes on from there.
 */
export const MAX_STEPS = 50

/** How often a day is summed that changes meanwhile; the last attempt makes larger steps. */
const MAX_ATTEMPTS = 3
const LAST_STEP_FACTOR = 5

/** The largest totals of a day that are kept, in bytes. D1 allows 2,000,000 bytes in a value. */
export const MAX_KEPT_BYTES = 512 * 1024

/** A computation that holds the lease of an account. */
export interface Computation {
  readonly session: D1DatabaseSession
  readonly account: string
  readonly id: string
}

/** Days of one resource without a kept day between them. They are summed in order, in steps. */
export interface Run {
  readonly view: RecordView
  /** The days that are not summed yet, in order. */
  days: readonly number[]
  after: readonly KeyValue[]
  attempt: number
  /** Whether the days are marked, so that a change of a day is noticed. */
  isMarked: boolean
  /** The sums of the first records of the first day, if a step ended within that day. */
  partial: { readonly day: number; readonly sums: DaySums } | null
}

/** A day that is summed. */
interface SummedDay {
  readonly run: Run
  readonly day: number
  readonly groups: KeptGroup[]
  readonly totals: string
  /** Whether one step summed it: then the sums are right even if the day changes before they are kept. */
  readonly isSnapshot: boolean
}

/** The groups of each day, by resource. */
export type GroupsByDay = Map<RecordView, Map<number, KeptGroup[]>>

/** The result of a computation: the groups, or why there are none and for how long the account waits. */
export type Outcome =
  | { readonly state: 'summed'; readonly groups: GroupsByDay }
  | { readonly state: 'too_large' }
  | { readonly state: 'unfinished' | 'changing'; readonly pauseMs: number }

/** The progress of a computation. */
interface Progress {
  readonly computation: Computation
  /** The runs that are not done. */
  runs: Run[]
  /** The days that were summed and wait to be kept by the next batch. */
  pending: SummedDay[]
  readonly groups: GroupsByDay
  readonly sizes: Map<RecordView, AnswerSize>
  /** The days of which the marks must be removed, because they are not summed. */
  abandoned: { readonly view: RecordView; readonly days: readonly number[] }[]
  databaseMs: number
  steps: number
  hasEnded: boolean
  state: Outcome['state']
}

/** Returns a run of days that follow each other. */
export const newRun = (view: RecordView, days: readonly number[], attempt = 1): Run => ({
  view,
  days,
  after: startOfDay(view, days[0] ?? 0),
  attempt,
  isMarked: false,
  partial: null,
})

/**
 * Sums the days of runs in steps, and keeps the totals of those days that do not change meanwhile.
 * `sizes` is the size of the rest of the answer. Ends the lease of the computation.
 */
export async function sumDays(
  computation: Computation,
  runs: readonly Run[],
  sizes: Map<RecordView, AnswerSize>,
): Promise<Outcome> {
  const progress: Progress = {
    computation,
    runs: [...runs],
    pending: [],
    groups: new Map(),
    sizes,
    abandoned: [],
    databaseMs: 0,
    steps: 0,
    hasEnded: false,
    state: 'summed',
  }
  const { session } = computation
  try {
    while (progress.runs.length > 0 || progress.pending.length > 0) await runBatch(progress)
  } finally {
    if (!progress.hasEnded) await session.batch(endStatements(progress))
  }
  const { state, groups } = progress
  if (state === 'summed') return { state, groups }
  return state === 'too_large' ? { state } : { state, pauseMs: pauseAfter(progress.databaseMs) }
}

/** A statement of a batch, and what to do with its rows. */
interface Task {
  readonly statement: D1PreparedStatement
  readonly use: (rows: Record<string, unknown>[]) => void
}

/** Keeps the days that the batch before has summed, and makes the next steps. */
async function runBatch(progress: Progress): Promise<void> {
  const { session, account, id } = progress.computation
  const { pending } = progress
  // Only a day of several steps may have to be summed again.
  progress.hasEnded = progress.runs.length === 0 && pending.every(({ isSnapshot }) => isSnapshot)
  const isKept = new Set<SummedDay>()
  const runs = nextRuns(progress.runs)
  const now = Date.now()
  const tasks: Task[] = [
    ...keepTasks(progress, isKept, now),
    ...(progress.hasEnded ? endStatements(progress) : [renewLease(session, account, id, now)]).map(
      (statement) => ({ statement, use: () => {} }),
    ),
    ...runs.flatMap((run) => stepTasks(progress, run, runs.length, now)),
  ]
  progress.pending = []
  const results = await withD1Retry(() =>
    session.batch<Record<string, unknown>>(tasks.map(({ statement }) => statement)),
  )
  for (const [i, { results: rows, meta }] of results.entries()) {
    progress.databaseMs += meta.duration
    tasks[i]?.use(rows)
  }
  for (const day of pending) if (!day.isSnapshot && !isKept.has(day)) sumAgain(progress, day)
  progress.runs = progress.runs.filter(({ days }) => days.length > 0)
  if (progress.state === 'too_large') abandon(progress, () => [])
  else if (progress.steps >= MAX_STEPS) stopBetweenDays(progress)
}

/** Returns the runs whose steps the next batch makes. The last attempt of a day is alone. */
function nextRuns(runs: readonly Run[]): readonly Run[] {
  const last = runs.find(({ attempt }) => attempt === MAX_ATTEMPTS)
  return last ? [last] : runs.slice(0, STEPS_PER_BATCH)
}

/** Returns the statements that keep what was summed; days with large totals are summed again each time. */
function keepTasks(
  { computation, pending }: Progress,
  isKept: Set<SummedDay>,
  now: number,
): Task[] {
  const { session, account, id } = computation
  return [...Map.groupBy(pending, ({ run }) => run.view)].flatMap(([view, days]) => {
    const scope = { session, account, view, computation: id }
    const isSmall = ({ totals }: SummedDay) => byteLength(totals) <= MAX_KEPT_BYTES
    const small = days.filter(isSmall).map(({ day, totals }) => [day, totals] as const)
    const large = days.filter((day) => !isSmall(day)).map(({ day }) => day)
    const statements = [
      ...keepDays(scope, small, now),
      ...(large.length > 0 ? [dropDays(scope, large)] : []),
    ]
    const use: Task['use'] = (rows) => {
      for (const { day } of rows) {
        const kept = days.find((summed) => summed.day === day)
        if (kept) isKept.add(kept)
      }
    }
    return statements.map((statement) => ({ statement, use }))
  })
}

const byteLength = (text: string) => new TextEncoder().encode(text).length

/** Returns the statements of the next step of a run, which marks the days if it is the first. */
function stepTasks(progress: Progress, run: Run, runs: number, now: number): Task[] {
  const { session, account, id } = progress.computation
  const { view, after, days, attempt } = run
  const factor = attempt === MAX_ATTEMPTS ? LAST_STEP_FACTOR : 1
  const size = Math.floor((stepSize(view) * factor) / runs)
  const range = { account, after, lastDay: days.at(-1) ?? 0, size }
  const scope = { session, account, view, computation: id }
  const marks = run.isMarked ? [] : [beginDays(scope, days, now)]
  run.isMarked = true
  const rows: Record<string, unknown>[][] = []
  const use: Task['use'] = (found) => {
    rows.push(found)
    if (rows.length === stepLength(view)) applyStep(progress, run, readStep(view, size, rows))
  }
  return [
    ...marks.map((statement) => ({ statement, use: () => {} })),
    ...stepStatements(session, view, range).map((statement) => ({ statement, use })),
  ]
}

/** Adds what a step has summed to its run. */
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

/** Notes that a day is summed. */
function addDay(progress: Progress, run: Run, day: number, sums: DaySums, isSnapshot: boolean) {
  const { view } = run
  const groups = toKeptGroups(sums, view)
  const totals = JSON.stringify(groups)
  const size = addToSize(progress.sizes.get(view), groups, byteLength(totals))
  progress.sizes.set(view, size)
  if (isTooLarge(size)) progress.state = 'too_large'
  const days = progress.groups.get(view) ?? new Map<number, KeptGroup[]>()
  progress.groups.set(view, days.set(day, groups))
  progress.pending.push({ run, day, groups, totals, isSnapshot })
}

/** Has a day summed again that changed between two of its steps. */
function sumAgain(progress: Progress, { run, day, groups, totals }: SummedDay): void {
  const { view, attempt } = run
  progress.groups.get(view)?.delete(day)
  const size = progress.sizes.get(view)
  progress.sizes.set(view, addToSize(size, groups, byteLength(totals), -1))
  if (progress.state !== 'summed') return
  if (attempt < MAX_ATTEMPTS) progress.runs.push(newRun(view, [day], attempt + 1))
  else progress.state = 'changing'
}

/** Stops after the days that are summed in part. */
function stopBetweenDays(progress: Progress): void {
  abandon(progress, ({ partial }) => (partial ? [partial.day] : []))
}

/** Gives up the days of each run but those that `goOn` returns. */
function abandon(progress: Progress, goOn: (run: Run) => readonly number[]): void {
  for (const run of progress.runs) {
    const rest = goOn(run)
    const days = run.days.filter((day) => !rest.includes(day))
    if (days.length === 0) continue
    if (progress.state === 'summed') progress.state = 'unfinished'
    if (run.isMarked) progress.abandoned.push({ view: run.view, days })
    run.days = rest
  }
  progress.runs = progress.runs.filter(({ days }) => days.length > 0)
}

/** Returns the statements that end the lease and remove the marks of days that were not summed. */
function endStatements({ computation, abandoned, databaseMs }: Progress): D1PreparedStatement[] {
  const { session, account, id } = computation
  return [
    ...abandoned.map(({ view, days }) =>
      dropDays({ session, account, view, computation: id }, days),
    ),
    endLease(session, account, id, Date.now() + pauseAfter(databaseMs)),
  ]
}
