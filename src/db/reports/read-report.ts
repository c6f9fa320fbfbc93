import { ApiError } from '../../errors.ts'
import { endLease, payFor, renewLease, takeLease, toSeconds } from '../records/totals-lease.ts'
import { withD1Retry } from '../retry.ts'
import { bindStatement, compileStatement } from '../statement.ts'

/** A row of a statement of a report: its groups, and what it counts and sums. */
export type ReportRow = Readonly<Record<string, string | number | null>>

/** The parameters of a statement. */
export type ReportValues = Readonly<Record<string, string | number | null>>

/** A statement of a report with its parameters. */
export type ReportStatement = readonly [sql: string, values: ReportValues]

/** What has changed while a report was read: see `totals_leases.watch`. */
export type Change = 'nothing' | 'records' | 'days'

/** The turn of a report: it is the only computation of its account. */
export interface Turn {
  /** The rows of the statements of the batch that took the turn. */
  readonly first: readonly ReportRow[][]
  /** Reads statements in one batch; the last batch ends the turn, and then nothing is kept. */
  readonly readBatch: ReadBatch
  /** Ends the turn in a batch with these statements. Returns what has changed since it began. */
  readonly end: (statements: readonly ReportStatement[]) => Promise<Change>
}

/** Reads statements in one batch. */
export type ReadBatch = (
  statements: readonly ReportStatement[],
  isLast?: boolean,
) => Promise<ReportRow[][]>

const CHANGES: readonly Change[] = ['nothing', 'records', 'days']

const OF_TURN = 'where account = :account and computation = :computation'

/** Has triggers note changes of records of these days. */
const WATCH = `update totals_leases set watch = 0, watch_from = :from, watch_to = :to ${OF_TURN}`

const READ_WATCH = `select watch from totals_leases ${OF_TURN}`

const END_WATCH = `update totals_leases set watch = null ${OF_TURN}`

/**
 * The part of the time of a report for which its account pays. People look at one report after another:
 * they may use a third of the database's time, and control totals a tenth.
 */
const PAID_PART = 0.2

/** A report that took at most so much of the database's time costs nothing more, in milliseconds. */
const FREE_MS = 250

/** How long a report leaves the database to others after a batch, as a part of the time of the batch. */
const PAUSED_PART = 0.5

/** How long a report waits for another computation of its account, try by try, in milliseconds. */
const WAITS_MS = [100, 200, 400, 800]

/** How often a report that goes on renews its lease, in milliseconds. */
const RENEW_MS = 5000

/**
 * Reads a report as the only computation of the account. `first` are statements of the batch that takes
 * the turn, and `days` are those whose changes are watched. D1 runs one batch of a database after the
 * other, so that a report of many short batches holds up nobody.
 */
export async function readInTurn<T>(
  session: D1DatabaseSession,
  account: string,
  { first, days }: { first: readonly ReportStatement[]; days: { from: number; to: number } },
  read: (turn: Turn) => Promise<T>,
): Promise<T> {
  const id = crypto.randomUUID()
  const prepare = (statements: readonly ReportStatement[]) =>
    statements.map(([sql, values]) =>
      bindStatement(session, compileStatement(sql), { ...values, account, computation: id }),
    )
  const taken = await takeTurn(session, account, id, prepare([...first, [WATCH, days]]))
  let databaseMs = timeOf(taken.results)
  let renewedAt = Date.now()
  let startedAt: number | null = null
  let hasEnded = false
  const pay = () => {
    const ms = databaseMs + (startedAt === null ? 0 : Date.now() - startedAt)
    const paidMs = ms > FREE_MS ? PAID_PART * ms : 0
    return endLease(session, account, id, payFor(taken.paidAt, paidMs, Date.now()))
  }
  const runBatch = async (statements: readonly D1PreparedStatement[]) => {
    startedAt = Date.now()
    const results = await withD1Retry(() => session.batch<ReportRow>([...statements]))
    startedAt = null
    databaseMs += timeOf(results)
    return results.map(({ results: rows }) => rows)
  }
  const lastStatements = () => [
    ...prepare([
      [READ_WATCH, {}],
      [END_WATCH, {}],
    ]),
    pay(),
  ]
  const readBatch: ReadBatch = async (statements, isLast = false) => {
    const now = Date.now()
    const isOld = now - renewedAt > RENEW_MS
    if (isOld) renewedAt = now
    const renewal = isOld ? [renewLease(session, account, id, now)] : []
    const before = databaseMs
    const rows = await runBatch([...prepare(statements), ...(isLast ? lastStatements() : renewal)])
    hasEnded = isLast
    const pause = PAUSED_PART * (databaseMs - before)
    // The benchmarks run this in Node.js, which has no global `scheduler`.
    if (!isLast) await new Promise((resolve) => setTimeout(resolve, pause))
    return rows.slice(0, statements.length)
  }
  const end: Turn['end'] = async (statements) => {
    const rows = await runBatch([...prepare(statements), ...lastStatements()])
    hasEnded = true
    return CHANGES[Number(rows[statements.length]?.[0]?.watch ?? 1)] ?? 'records'
  }
  try {
    return await read({ first: taken.results.map(({ results }) => results), readBatch, end })
  } finally {
    // A batch that failed may have worked until D1's limit of 30 seconds: without payment, an account
    // could have it do so again and again. If this fails too, the lease ends by itself.
    const unwatch = hasEnded ? [] : prepare([[END_WATCH, {}]])
    const isPaid = hasEnded && databaseMs <= FREE_MS
    for (const statement of [...(isPaid ? [] : [pay()]), ...unwatch]) {
      await statement.run().catch(() => {})
    }
  }
}

const timeOf = (results: readonly D1Result[]): number =>
  results.reduce((sum, { meta }) => sum + meta.duration, 0)

/** Waits a little for other computations of the account. */
async function takeTurn(
  session: D1DatabaseSession,
  account: string,
  id: string,
  statements: readonly D1PreparedStatement[],
) {
  for (const wait of [...WAITS_MS, null]) {
    const lease = await takeLease<ReportRow>(session, account, id, Date.now(), statements)
    if (!('retryAfter' in lease)) return lease
    if (wait === null || !lease.isRunning) throw busy(lease.retryAfter)
    await scheduler.wait(wait)
  }
  throw busy(1)
}

const busy = (seconds: number) =>
  new ApiError('rate_limited', {
    detail: `One report or computation of control totals of an account runs at a time, and after a long one there is a pause. Repeat the same request after ${toSeconds(seconds * 1000)} seconds.`,
    headers: { 'Retry-After': String(seconds) },
  })
