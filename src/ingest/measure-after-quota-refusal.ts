import type { Context } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { resolveDatabase } from '../db/database.ts'
import { AT_QUOTA_MS, measureAtQuota } from '../db/records/storage.ts'
import { ApiError, errorName } from '../errors.ts'

// Each isolate asks the database at most once a minute whether a measurement is due.
const mayMeasure = oncePerInterval(AT_QUOTA_MS)

/**
 * If a delivery failed with `quota_exceeded`, measures what its account stores, after the response. `error`
 * is what the delivery failed with.
 */
export function measureAfterQuotaRefusal(c: Context<AppEnv>, error: unknown): void {
  if (!(error instanceof ApiError) || error.code !== 'quota_exceeded') return
  c.executionCtx.waitUntil(
    measureAccount(c).catch((cause) => {
      console.error(JSON.stringify({ fault: errorName(cause), not_measured: 'account' }))
    }),
  )
}

async function measureAccount(c: Context<AppEnv>): Promise<void> {
  const { account, binding } = await c.var.grantPromise
  const now = Date.now()
  if (mayMeasure(account, now)) await measureAtQuota(resolveDatabase(c.env, binding), account, now)
}

/** The number of accounts whose last start is remembered. Beyond that, all of them are forgotten. */
const MAX_ACCOUNTS = 1000

/**
 * Returns a function that tells whether a job of an account may start at `now` (milliseconds). In this
 * isolate it may start once in `intervalMs`. A cron job does what is not started.
 */
export function oncePerInterval(intervalMs: number): (account: string, now: number) => boolean {
  const lastStarts = new Map<string, number>()
  return (account, now) => {
    if (now - (lastStarts.get(account) ?? 0) < intervalMs) return false
    if (lastStarts.size >= MAX_ACCOUNTS) lastStarts.clear()
    lastStarts.set(account, now)
    return true
  }
}
