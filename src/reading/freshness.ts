import type { Arrivals } from '../db/records/arrivals.ts'
import type { Account } from '../db/schema.ts'
import { DAY_HOURS, DAY_MS } from '../durations.ts'

const DUE_HOUR = 6

/** The share of refused records above which a feed needs attention. */
export const MANY_REFUSED = 0.05

/** Whether yesterday's activity arrived; it is due by 06:00 UTC. */
export type Yesterday = 'in_time' | 'late' | 'missing' | 'pending'

/**
 * Returns how fresh one feed of an account is at `now` (milliseconds). The sources recommend sending
 * customers and transactions within 5 minutes, and activity by 06:00 UTC of the next day. No activity
 * is expected for the day on which the account was created.
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

function yesterdayOf(hour: number | null, createdAt: number, now: number): Yesterday {
  const today = Math.floor(now / DAY_MS)
  if (hour !== null && hour < today * DAY_HOURS + DUE_HOUR) return 'in_time'
  if (createdAt > (today - 1) * DAY_MS) return 'pending'
  if (hour !== null) return 'late'
  return new Date(now).getUTCHours() < DUE_HOUR ? 'pending' : 'missing'
}
