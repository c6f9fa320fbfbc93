import { ApiError } from '../../errors.ts'
import { encode } from '../column-types.ts'
import { endLease, payFor, takeLease, toSeconds } from '../records/totals-lease.ts'
import { withD1Retry } from '../retry.ts'
import { transactions } from '../schema.ts'
import { bindStatement, compileStatement } from '../statement.ts'

/** A row of a statement of a report: its groups, and what it counts and sums. */
export type ReportRow = Readonly<Record<string, string | number | null>>

/** The parameters of the statements of a report. */
export interface ReportValues {
  readonly account: string
  /** The first and the last day, as `YYYY-MM-DD`. */
  readonly from: string
  readonly to: string
  readonly currency: string
  /** The words for transactions that are approved. */
  readonly approved: readonly string[]
  /** JSON: the affiliates of links. */
  readonly links: string
  /** The first and the last month and week with these days. */
  readonly first_month: string
  readonly last_month: string
  readonly first_week: string
  readonly last_week: string
  /** The most records of a resource, rows of a statement, values of KPIs, and days of first deposits. */
  readonly records: number
  readonly sums: number
  readonly kpis: number
  readonly searched: number
}

/**
 * The part of the time of a report for which its account pays. People look at one report after another:
 * they may use a third of the database's time, and control totals a tenth.
 */
const PAID_PART = 0.2

/** A report that took at most so much of the database's time costs nothing more, in milliseconds. */
const FREE_MS = 250

/** How long a report waits for another computation of its account, try by try, in milliseconds. */
const WAITS_MS = [100, 200, 400, 800]

/** Returns the rows of statements, which one batch reads as the only computation of the account. */
export async function readReport(
  session: D1DatabaseSession,
  statements: readonly string[],
  values: ReportValues,
): Promise<ReportRow[][]> {
  const { account } = values
  const id = crypto.randomUUID()
  const { paidAt } = await takeTurn(session, account, id)
  const bound = {
    ...values,
    from: encode(transactions.day, values.from),
    to: encode(transactions.day, values.to),
    approved: JSON.stringify(values.approved),
  }
  const startedAt = Date.now()
  const end = (ms: number) =>
    endLease(session, account, id, payFor(paidAt, PAID_PART * ms, Date.now()))
  try {
    const results = await withD1Retry(() =>
      session.batch<ReportRow>([
        ...statements.map((sql) => bindStatement(session, compileStatement(sql), bound)),
        end(0),
      ]),
    )
    const databaseMs = results.reduce((sum, { meta }) => sum + meta.duration, 0)
    if (databaseMs > FREE_MS)
      await end(databaseMs)
        .run()
        .catch(() => {})
    return results.slice(0, -1).map((result) => result.results)
  } catch (error) {
    // The database may have worked until its limit of 30 seconds: without payment, an account could
    // have it do so again and again. If this fails too, the lease ends by itself.
    await end(Date.now() - startedAt)
      .run()
      .catch(() => {})
    throw error
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
