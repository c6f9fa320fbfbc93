import type { Arrivals } from '../db/records/arrivals.ts'
import type { Account } from '../db/schema.ts'
import { DAY_HOURS, DAY_MS } from '../durations.ts'

/** The hour (UTC) by which the activity of the day before is due. */
export const ACTIVITY_DUE_HOUR = 6

/** The share of refused records above which a feed needs attention. */
export const HIGH_REFUSED_SHARE = 0.05

/** Whether the activity of yesterday arrived by the hour at which it is due. */
export type YesterdayState = 'in_time' | 'late' | 'missing' | 'pending'

/**
 * Returns how fresh one feed of an account is at `now` (milliseconds). Customers and transactions should
 * arrive within 5 minutes, and activity by `ACTIVITY_DUE_HOUR` of the next day. No activity is expected for
 * the day on which the account was created.
 */
export function feedFreshness(
  { resource, last_at, received, refused, yesterday_hour }: Arrivals,
  { created_at }: Pick<Account, 'created_at'>,
  now: number,
) {
  const share = received === 0 ? null : Math.round((refused / received) * 10_000) / 10_000
  const isDaily = resource === 'trading-activity' || resource === 'activities'
  return {
    resource,
    last_delivery_at: last_at === null ? null : new Date(last_at).toISOString(),
    lag_seconds: last_at === null ? null : Math.max(0, Math.round((now - last_at) / 1000)),
    received_last_day: received,
    refused_last_day: refused,
    refused_share_last_day: share,
    ...(isDaily && { yesterday: yesterdayOf(yesterday_hour, Date.parse(created_at), now) }),
  }
}

/**
 * Returns the state of the activity of yesterday. `hoursSince1970` is the first hour in which some of
 * it arrived; null if none has arrived.
 */
function yesterdayOf(
  hoursSince1970: number | null,
  createdAt: number,
  now: number,
): YesterdayState {
  const today = Math.floor(now / DAY_MS)
  const dueHour = today * DAY_HOURS + ACTIVITY_DUE_HOUR
  if (hoursSince1970 !== null && hoursSince1970 < dueHour) return 'in_time'
  if (createdAt > (today - 1) * DAY_MS) return 'pending'
  if (hoursSince1970 !== null) return 'late'
  return new Date(now).getUTCHours() < ACTIVITY_DUE_HOUR ? 'pending' : 'missing'
}
