import { ApiError } from '../../errors.ts'
import { endLease, payFor, renewLease, takeLease, toSeconds } from '../records/totals-lease.ts'
import { withD1Retry } from '../retry.ts'
import { bindStatement, compileStatement } from '../statement.ts'

/** A row of a statement of a report: its groups, and what it counts and sums. */
export type ReportRow = Readonly<Record<string, string | number | null>>

/** A statement of a report with its parameters, without the account. */
export type ReportStatement = readonly [
  sql: string,
  values: Readonly<Record<string, string | number | null>>,
]

/** Reads statements in one batch. The last one of a report ends its turn. */
export type ReadBatch = (
  statements: readonly ReportStatement[],
  isLast?: boolean,
) => Promise<ReportRow[][]>

/**
 * The share of a report's database time that counts against its account, as a pause before the next
 * report. An account can use a third of the database's time for reports, and a tenth for control totals.
 */
const PAID_PART = 0.2

/** A report with at most this much database time, in milliseconds, is followed by no pause. */
const FREE_MS = 250

/** How often a report that goes on renews its lease, in milliseconds. */
const RENEW_MS = 5000

/** How long a report waits for another computation of its account, try by try, in milliseconds. */
const WAITS_MS = [100, 200, 400, 800]

/**
 * Reads a report as the only computation of the account. D1 runs one batch of a database after the other,
 * so that a report of many short batches holds up nobody.
 */
export async function readInTurn(
  session: D1DatabaseSession,
  account: string,
  read: (readBatch: ReadBatch) => Promise<void>,
): Promise<void> {
  const id = crypto.randomUUID()
  const { paidAt } = await takeTurn(session, account, id)
  let [databaseMs, renewedAt] = [0, Date.now()]
  let startedAt: number | null = null
  const end = (ms: number) =>
    endLease(session, account, id, payFor(paidAt, PAID_PART * ms, Date.now()))
  const readBatch: ReadBatch = async (statements, isLast = false) => {
    startedAt = Date.now()
    const bound = statements.map(([sql, values]) =>
      bindStatement(session, compileStatement(sql), { ...values, account }),
    )
    if (isLast) bound.push(end(0))
    else if (startedAt - renewedAt > RENEW_MS) {
      renewedAt = startedAt
      bound.push(renewLease(session, account, id, startedAt))
    }
    const results = await withD1Retry(() => session.batch<ReportRow>(bound))
    startedAt = null
    databaseMs += results.reduce((sum, { meta }) => sum + meta.duration, 0)
    return results.slice(0, statements.length).map((result) => result.results)
  }
  let isPaid = false
  try {
    await read(readBatch)
    isPaid = databaseMs <= FREE_MS
  } finally {
    // A batch that failed may have worked until D1's limit of 30 seconds: without payment, an account
    // could have it do so again and again. If this fails too, the lease ends by itself.
    const failedMs = startedAt === null ? 0 : Date.now() - startedAt
    if (!isPaid)
      await end(databaseMs + failedMs)
        .run()
        .catch(() => {})
  }
}

/** Waits a little for other computations of the account. */
async function takeTurn(session: D1DatabaseSession, account: string, id: string) {
  for (const wait of [...WAITS_MS, null]) {
    const lease = await takeLease(session, account, id, Date.now())
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
