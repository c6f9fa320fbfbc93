import type { Arrivals } from '../db/records/arrivals.ts'

const DAY_HOURS = 24
const DAY_MS = 86_400_000
const DUE_HOUR = 6

/** Whether yesterday's activity arrived; it is due by 06:00 UTC. */
export type Yesterday = 'in_time' | 'late' | 'missing' | 'pending'

/**
 * Returns how fresh one feed is at `now` (milliseconds). The sources recommend sending customers and
 * transactions within 5 minutes, and activity by 06:00 UTC of the next day.
 */
export function feedFreshness(
  { resource, last_at, received, refused, yesterday_hour }: Arrivals,
  now: number,
) {
  const share = received === 0 ? null : Math.round((refused / received) * 10_000) / 10_000
  const isDaily = resource === 'trading-activity' || resource === 'activities'
  return {
    resource,
    last_delivery_at: last_at === null ? null : new Date(last_at).toISOString(),
    lag_seconds: last_at === null ? null : Math.max(0, Math.round((now - last_at) / 1000)),
    received_last_day: received,
    refused_share_last_day: share,
    ...(isDaily && { yesterday: yesterdayOf(yesterday_hour, now) }),
  }
}

function yesterdayOf(hour: number | null, now: number): Yesterday {
  const today = Math.floor(now / DAY_MS) * DAY_HOURS
  if (hour !== null) return hour < today + DUE_HOUR ? 'in_time' : 'late'
  return new Date(now).getUTCHours() < DUE_HOUR ? 'pending' : 'missing'
}
