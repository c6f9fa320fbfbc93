import { ApiError } from '../../errors.ts'
import { required } from '../batch.ts'
import { decode } from '../column-types.ts'
import type { KeptGroup } from './day-sums.ts'
import { type KeptDay, readKeptTotals } from './kept-totals.ts'
import type { RecordView } from './record-view.ts'
import { sumDays } from './sum-days.ts'
import { takeLease, toSeconds } from './totals-lease.ts'
import { type GroupsByDay, newRun, type Run, type Sizes } from './totals-progress.ts'
import { type AnswerSize, addToSize, isTooLarge, MAX_BYTES } from './totals-size.ts'

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

/** How many bytes of kept totals a resource may have without a lease of memory. */
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
    detail: `${detail} Repeat the same request after ${seconds} seconds.`,
    headers: { 'Retry-After': String(seconds) },
    cause: new Error(detail),
  })

function presentTotal(view: RecordView, day: number, group: KeptGroup): Total {
  const { name, recordTable, wire = {} } = view
  const [values, count, sums, kpis] = group
  const wireName = (column: string) => wire[column] ?? column
  const presentSums = view.sums.flatMap((sum, i) => {
    const text = sums[i] ?? null
    return text === null ? [] : [[wireName(sum), text] as const]
  })
  return {
    day: String(decode(recordTable.encoded[recordTable.dayColumn], day)),
    resource: name,
    ...Object.fromEntries(view.groups.map((column, i) => [wireName(column), values[i] ?? null])),
    count,
    sums: Object.fromEntries([...presentSums, ...Object.entries(kpis)]),
  }
}
