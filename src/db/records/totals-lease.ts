import { withD1Retry } from '../retry.ts'
import { bindStatement, compileStatement } from '../statement.ts'

/** How long a computation keeps its lease after its last statement, should it crash: milliseconds. */
export const LEASE_MS = 20_000

/** How many times longer than its database time an account waits after a computation. */
const PAUSE_FACTOR = 10

/** The database time of a computation that causes no pause, in milliseconds: small accounts never wait. */
const FREE_MS = 50

/** How soon a caller may ask whether another computation has ended: seconds. */
const RUNNING_RETRY_SECONDS = 5

/** Takes the lease of the account, if it is free. */
export const TAKE_LEASE = compileStatement(`
  insert into totals_leases (account, computation, running, until)
  values (:account, :computation, 1, :until)
  on conflict (account) do update set
    computation = excluded.computation, running = 1, until = excluded.until
  where totals_leases.until <= :now or totals_leases.computation = excluded.computation`)

/** Reads which computation has the lease. */
export const READ_LEASE = compileStatement(`
  select computation, running, until from totals_leases where account = :account`)

/** Lengthens the lease of a computation. */
export const RENEW_LEASE = compileStatement(`
  update totals_leases set until = :until
  where account = :account and computation = :computation`)

/** Ends the lease of a computation, after a pause. */
export const END_LEASE = compileStatement(`
  update totals_leases set running = 0, until = :until
  where account = :account and computation = :computation`)

interface Lease {
  computation: string
  running: number
  until: number
}

/**
 * Takes the lease of an account for a computation. Returns 0, or in how many seconds the caller may
 * ask again: another computation runs, or the last one used much of the database's time.
 */
export async function takeLease(
  session: D1DatabaseSession,
  account: string,
  computation: string,
  now: number,
): Promise<number> {
  const values = { account, computation, now, until: now + LEASE_MS }
  const [, read] = await withD1Retry(() =>
    session.batch<Lease>([
      bindStatement(session, TAKE_LEASE, values),
      bindStatement(session, READ_LEASE, values),
    ]),
  )
  const lease = read?.results[0]
  if (!lease || lease.computation === computation) return 0
  const seconds = Math.max(1, Math.ceil((lease.until - now) / 1000))
  return lease.running ? Math.min(seconds, RUNNING_RETRY_SECONDS) : seconds
}

/** Renews the lease of a computation that goes on. */
export const renewLease = (
  session: D1DatabaseSession,
  account: string,
  computation: string,
  now: number,
): D1PreparedStatement =>
  bindStatement(session, RENEW_LEASE, { account, computation, until: now + LEASE_MS })

/**
 * Returns how long an account waits after a computation, in milliseconds. Its totals thus take at
 * most about a tenth of the database's time.
 */
export const pauseAfter = (databaseMs: number): number =>
  Math.ceil(Math.max(0, databaseMs - FREE_MS) * PAUSE_FACTOR)

/** Ends the lease of a computation. The next one may start at `until`. */
export const endLease = (
  session: D1DatabaseSession,
  account: string,
  computation: string,
  until: number,
): D1PreparedStatement => bindStatement(session, END_LEASE, { account, computation, until })
