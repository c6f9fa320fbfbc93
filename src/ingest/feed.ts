import { type Arrivals, readArrivals } from './db/arrivals.ts'

/** The hour (UTC) by which the activity of the day before is due. */
export const ACTIVITY_DUE_HOUR = 6

/** The share of refused records above which a feed needs attention. */
export const HIGH_REFUSED_SHARE = 0.05

/** Whether activity of yesterday has arrived: it is missing from the hour on at which it is due. */
export type YesterdayState = 'arrived' | 'missing' | 'pending'

/**
 * Returns how fresh one feed of an account is at `now` (milliseconds). Customers and transactions should
 * arrive within 5 minutes, and activity by `ACTIVITY_DUE_HOUR` of the next day. An account owes none for the day
 * on which its deliveries began.
 */
function feedFreshness(
  { resource, last_at, received, rejected, not_stored, has_yesterday, is_due }: Arrivals,
  now: number,
) {
  const isOverdue = is_due === 1 && new Date(now).getUTCHours() >= ACTIVITY_DUE_HOUR
  const absent: YesterdayState = isOverdue ? 'missing' : 'pending'
  const yesterday = has_yesterday === 1 ? ('arrived' as const) : absent
  return {
    resource,
    last_delivery_at: last_at === null ? null : new Date(last_at).toISOString(),
    lag_seconds: last_at === null ? null : Math.max(0, Math.round((now - last_at) / 1000)),
    received_last_day: received,
    rejected_last_day: rejected,
    not_stored_last_day: not_stored,
    refused_share_last_day:
      received === 0 ? null : Math.round(((rejected + not_stored) / received) * 10_000) / 10_000,
    ...(has_yesterday !== null && { yesterday }),
  }
}

/** A feed as the API shows it: how fresh one resource of an account is. */
export type Feed = ReturnType<typeof feedFreshness>

/** Reads the feeds of accounts of one database at `now` (milliseconds); returns a list for each account. */
export async function readFeedsOf(...query: Parameters<typeof readArrivals>): Promise<Feed[][]> {
  const [, , now] = query
  const arrivals = await readArrivals(...query)
  return arrivals.map((own) => own.map((one) => feedFreshness(one, now)))
}
