import { findAccount } from '../db/directory/accounts.ts'
import {
  type ActivityDays,
  type Arrivals,
  type DaySpan,
  readActivityDays,
  readArrivals,
  toDay,
} from '../db/records/arrivals.ts'
import type { ResourceName } from '../db/records/list.ts'
import { DAY_HOURS, DAY_MS } from '../durations.ts'
import { ApiError } from '../errors.ts'

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
/** A day is compared with the same weekday of this many weeks before it. */
const COMPARED_WEEKS = 8
const WEEK_DAYS = 7
/** The fewest of these weekdays that must have records. */
const MIN_COMPARED = 4
/** The share of the median below which a day has far fewer records than usual. */
const LOW_SHARE = 0.25

/** A day with far fewer records than the days of the same weekday before it. */
interface LowDay {
  day: string
  count: number
  median: number
}

/** Which days of a feed lack records. */
interface Completeness {
  missing_days: string[]
  low_days: LowDay[]
  /** The days that were not compared, because their records are not counted yet. */
  days_not_counted: number
}

/**
 * Returns the days that the completeness of a feed depends on at `now` (milliseconds). Yesterday is one of
 * them only once its activity is due.
 */
export function completenessSpan(now: number): DaySpan {
  const today = Math.floor(now / DAY_MS)
  const to = new Date(now).getUTCHours() < ACTIVITY_DUE_HOUR ? today - 2 : today - 1
  const from = to - CHECKED_DAYS + 1
  return { from, countedFrom: from - COMPARED_WEEKS * WEEK_DAYS, to }
}

/**
 * Returns the days of a span on which a feed has no records since its first one, and those with less than a
 * quarter of the median of the last 8 days of the same weekday, of which at least 4 must have records.
 */
export function completenessOf(
  { firstDay, days, counted }: ActivityDays,
  { from, to }: DaySpan,
): Completeness {
  const present = new Set(days)
  const length = firstDay === null ? 0 : Math.max(0, to - Math.max(from, firstDay) + 1)
  const checked = Array.from({ length }, (_, i) => to - length + 1 + i)
  const low = checked.flatMap((day) => {
    const count = present.has(day) ? counted.get(day) : undefined
    const median = medianBefore(day, counted)
    return count !== undefined && median !== null && count < median * LOW_SHARE
      ? [{ day: toDay(day), count, median }]
      : []
  })
  return {
    missing_days: checked.filter((day) => !present.has(day)).map(toDay),
    low_days: low,
    days_not_counted: checked.filter((day) => present.has(day) && !counted.has(day)).length,
  }
}

/** Returns the median of the same weekday of the weeks before; null if too few of these have records. */
function medianBefore(day: number, counted: ReadonlyMap<number, number>): number | null {
  const counts = Array.from({ length: COMPARED_WEEKS }, (_, i) =>
    counted.get(day - (i + 1) * WEEK_DAYS),
  )
    .filter((count) => count !== undefined && count > 0)
    .map(Number)
    .sort((a, b) => a - b)
  if (counts.length < MIN_COMPARED) return null
  const middle = Math.floor(counts.length / 2)
  const upper = counts[middle] ?? 0
  return counts.length % 2 === 1 ? upper : ((counts[middle - 1] ?? 0) + upper) / 2
}

/** A feed as the API shows it: how fresh and how complete one resource of an account is. */
export type Feed = ReturnType<typeof feedFreshness> & ReturnType<typeof completenessOf>

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
  const span = completenessSpan(now)
  const [arrivals, days, createdAt] = await Promise.all([
    readArrivals(db, accounts, now),
    readActivityDays(db, accounts, span),
    Promise.all(accounts.map((one) => one.createdAt)),
  ])
  return accounts.map((_, i) =>
    (arrivals[i] ?? []).map((arrival, j) => {
      const ofResource = days[i]?.[j] ?? NO_DAYS
      return {
        ...feedFreshness(arrival, createdAt[i] ?? '', now),
        ...completenessOf(ofResource, span),
      }
    }),
  )
}

const NO_DAYS = { resource: '', firstDay: null, days: [], counted: new Map() }
