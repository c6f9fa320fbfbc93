import { bindStatement, compileStatement, readBatch, required } from './statement.ts'

/** How long a computation keeps its lease after its last statement, should it crash: milliseconds. */
export const LEASE_MS = 20_000

/** Computations of an account use at most one part in this many of the database's time. */
const SHARE = 10

/** The database time that an account can use at once before it waits, in milliseconds. */
const BURST_MS = 1000

/** How soon a caller may ask whether another computation has ended: seconds. */
const RUNNING_RETRY_SECONDS = 5

/** Takes the lease of the account, if it is free. */
export const TAKE_LEASE = compileStatement(`
  insert into totals_leases (account, computation, running, until, paid_at)
  values (:account, :computation, 1, :until, 0)
  on conflict (account) do update set
    computation = excluded.computation, running = 1, until = excluded.until
  where totals_leases.computation = excluded.computation
    or ((running = 0 or totals_leases.until <= :now) and totals_leases.paid_at <= :latest)`)

/** Reads which computation has the lease. */
export const READ_LEASE = compileStatement(`
  select computation, running, until, paid_at from totals_leases where account = :account`)

/** Lengthens the lease of a computation. */
export const RENEW_LEASE = compileStatement(`
  update totals_leases set until = :until
  where account = :account and computation = :computation`)

/** Ends the lease of a computation. */
export const END_LEASE = compileStatement(`
  update totals_leases set running = 0, paid_at = :paid_at
  where account = :account and computation = :computation`)

interface Lease {
  computation: string
  running: number
  until: number
  paid_at: number
}

/**
 * Takes the lease of an account for a computation. Returns the time at which the account has paid for
 * earlier ones, or in how many seconds the caller may ask again: another computation runs, or the last
 * ones used much of the database's time.
 */
export async function takeLease(
  session: D1DatabaseSession,
  account: string,
  computation: string,
  now: number,
): Promise<{ paidAt: number } | { retryAfter: number; isRunning: boolean }> {
  const values = {
    account,
    computation,
    now,
    until: now + LEASE_MS,
    latest: now + SHARE * BURST_MS,
  }
  const [, found] = await readBatch<[[], Lease[]]>(session, [
    bindStatement(session, TAKE_LEASE, values),
    bindStatement(session, READ_LEASE, values),
  ]).catch(async (error) => {
    // The statement may have taken the lease although its response was lost.
    await endLease(session, account, computation, now)
      .run()
      .catch(() => {})
    throw error
  })
  const lease = required(found[0], 'lease')
  if (lease.computation === computation) return { paidAt: lease.paid_at }
  if (lease.running && lease.until > now) {
    const retryAfter = Math.min(toSeconds(lease.until - now), RUNNING_RETRY_SECONDS)
    return { retryAfter, isRunning: true }
  }
  return { retryAfter: toSeconds(waitFor(lease.paid_at, now)), isRunning: false }
}

/** Returns a duration in whole seconds, at least one. */
export const toSeconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1000))

/** Renews the lease of a computation that goes on. */
export const renewLease = (
  session: D1DatabaseSession,
  account: string,
  computation: string,
  now: number,
): D1PreparedStatement =>
  bindStatement(session, RENEW_LEASE, { account, computation, until: now + LEASE_MS })

/** Returns when an account has paid for a computation that took `databaseMs` of the database's time. */
export const payFor = (paidAt: number, databaseMs: number, now: number): number =>
  Math.ceil(Math.max(paidAt, now) + SHARE * databaseMs)

/** Returns how long an account waits before its next computation, in milliseconds. */
export const waitFor = (paidAt: number, now: number): number =>
  Math.max(0, paidAt - SHARE * BURST_MS - now)

/** Ends the lease of a computation. */
export const endLease = (
  session: D1DatabaseSession,
  account: string,
  computation: string,
  paidAt: number,
): D1PreparedStatement =>
  bindStatement(session, END_LEASE, { account, computation, paid_at: paidAt })
