import { findAccount } from '../platform/directory/accounts.ts'
import { DAY_HOURS, DAY_MS } from '../platform/durations.ts'
import { ApiError } from '../platform/errors.ts'
import {
  type ActivityDays,
  type Arrivals,
  type DaySpan,
  readActivityDays,
  readArrivals,
  toDay,
} from './db/arrivals.ts'
import type { ResourceName } from './db/list.ts'

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
function feedFreshness(
  { resource, last_at, received, refused, yesterday_hour }: Arrivals,
  createdAt: string,
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
    ...(isDaily && { yesterday: yesterdayOf(yesterday_hour, Date.parse(createdAt), now) }),
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

/** The number of days that are checked; today is not one of them. */
const CHECKED_DAYS = 30

/** Returns the days that are checked at `now` (milliseconds). Yesterday is one of them only once its activity is due. */
function checkedSpan(now: number): DaySpan {
  const today = Math.floor(now / DAY_MS)
  const to = new Date(now).getUTCHours() < ACTIVITY_DUE_HOUR ? today - 2 : today - 1
  return { from: to - CHECKED_DAYS + 1, to }
}

/** Returns the days of a span on which a feed has no records since its first one. */
function missingDays({ firstDay, days }: ActivityDays, { from, to }: DaySpan): string[] {
  const present = new Set(days)
  const first = Math.max(from, firstDay ?? Number.POSITIVE_INFINITY)
  const checked = Array.from({ length: Math.max(0, to - first + 1) }, (_, i) => first + i)
  return checked.filter((day) => !present.has(day)).map(toDay)
}

/** A feed as the API shows it: how fresh and how complete one resource of an account is. */
export type Feed = ReturnType<typeof feedFreshness> & { missing_days: string[] }

/** An account whose feeds are read, and the names of its resources. */
interface FeedsOfAccount {
  readonly account: string
  /** The ISO instant of its creation. It may arrive while the feeds are read. */
  readonly createdAt: string | Promise<string>
  readonly names: readonly ResourceName[]
}

/**
 * Returns the ISO instant at which an account was created.
 *
 * @throws ApiError `not_found` if the account no longer exists.
 */
export async function findCreation(directory: D1Database, id: string): Promise<string> {
  const account = await findAccount(directory, id)
  if (!account) throw new ApiError('not_found', { detail: 'This account no longer exists.' })
  return account.created_at
}

/** Reads the feeds of accounts of one database at `now` (milliseconds); returns a list for each account. */
export async function readFeedsOf(
  db: D1Database | D1DatabaseSession,
  accounts: readonly FeedsOfAccount[],
  now: number,
): Promise<Feed[][]> {
  const span = checkedSpan(now)
  const [arrivals, days, createdAt] = await Promise.all([
    readArrivals(db, accounts, now),
    readActivityDays(db, accounts, span),
    Promise.all(accounts.map((one) => one.createdAt)),
  ])
  return accounts.map((_, i) =>
    (arrivals[i] ?? []).map((arrival, j) => ({
      ...feedFreshness(arrival, createdAt[i] ?? '', now),
      missing_days: missingDays(days[i]?.[j] ?? { firstDay: null, days: [] }, span),
    })),
  )
}
