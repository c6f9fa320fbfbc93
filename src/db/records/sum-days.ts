import { required } from '../batch.ts'
import { withD1Retry } from '../retry.ts'
import { beginDays, dropDays, keepDays } from './kept-totals.ts'
import { readStep, STEPS_PER_BATCH, stepLength, stepSize, stepStatements } from './sum-step.ts'
import { endLease, payFor, renewLease, waitFor } from './totals-lease.ts'
import {
  applyStep,
  dropRuns,
  type GroupsByDay,
  MAX_ATTEMPTS,
  newProgress,
  type Progress,
  type Run,
  type Sizes,
  type SummedDay,
  sumAgain,
} from './totals-progress.ts'

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
export async function sumDays(
  computation: Computation,
  runs: readonly Run[],
  sizes: Sizes,
): Promise<Outcome> {
  const progress = newProgress(runs, sizes)
  const running: Running = { computation, progress, databaseMs: 0, hasEnded: false }
  try {
    while (progress.runs.length > 0 || progress.pending.length > 0) await runBatch(running)
  } finally {
    if (!running.hasEnded) await computation.session.batch(endStatements(running))
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
