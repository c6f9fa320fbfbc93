import { env } from 'cloudflare:workers'

/** Stores the lease of another computation of an account's totals; by default it runs for a minute. */
export const leaseTotals = (
  account: string,
  until = Date.now() + 60_000,
  running = 1,
  paidAt = 0,
) =>
  env.DB.prepare(
    `insert into totals_leases (account, computation, running, until, paid_at)
     values (?, 'other', ?, ?, ?)`,
  )
    .bind(account, running, until, paidAt)
    .run()
