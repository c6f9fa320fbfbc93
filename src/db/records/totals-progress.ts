import { required } from '../batch.ts'
import type { KeyValue } from '../paginate.ts'
import { type DaySums, emptySums, type KeptGroup, mergeSums, toKeptGroups } from './day-sums.ts'
import type { RecordView } from './record-view.ts'
import { type Step, startOfDay, stepSize } from './sum-step.ts'
import { type AnswerSize, addToSize, isTooLarge, MAX_BYTES } from './totals-size.ts'

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
export interface SummedDay {
  readonly run: Run
  readonly day: number
  readonly groups: readonly KeptGroup[]
  readonly totals: string
  readonly bytes: number
  /** Whether one step summed it: then the sums are right even if the day changes before they are kept. */
  readonly isSnapshot: boolean
}

/** The groups of each day, by resource. */
export type GroupsByDay = Map<RecordView, Map<number, readonly KeptGroup[]>>

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
export const newRun = (view: RecordView, days: readonly number[], attempt = 1): Run => ({
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
export function applyStep(progress: Progress, run: Run, step: Step): void {
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
