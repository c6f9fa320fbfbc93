import { DAY_MS, MINUTE_MS } from '../platform/durations.ts'
import { type Period, parsePeriod } from '../platform/money/calendar.ts'

/** The maximum number of facts that a request may read to compute its response. */
export const REQUEST_LIMITS = { facts: 50_000 }

/** The maximum number of lines of a part of a statement, and about that of their bytes and of those of steps in a row. */
export const PART_LIMITS = { lines: 1000, bytes: 400_000, stepBytes: 600_000 }

/** The maximum number of causes that an adjustment lists, and of those that it counts. */
export const CAUSE_LIMITS = { listed: 20, counted: 1000 }

/** The limits of one step of a run. */
export const STEP_LIMITS = {
  /** The customers whose facts it reads, unless one affiliate alone depends on more. */
  customers: 60_000,
  affiliates: 1000,
}

/** The limits of what a step settles and stores at once: customers of which something is known apart. */
export const SETTLED_LIMITS = { customers: 2500, affiliates: 1000 }

/** A period before 1970, or that begins more than this many years ahead, is refused: its year must be mistyped. */
const YEARS_AHEAD = 10

/** Returns the period of a text, from 1970 to 10 years from now; null if it is none. */
export function knownPeriod(text: string): Period | null {
  const period = parsePeriod(text)
  if (!period || period.first < 0) return null
  return period.first > Date.now() / DAY_MS + 366 * YEARS_AHEAD ? null : period
}

/** The forms of a period, in errors of a query. */
export const PERIOD_FORMS =
  'a month such as `2026-10` or a week such as `2026-W41`, from 1970 to 10 years from now'

/** The limits of runs. */
export const RUN_LIMITS = {
  /**
   * The runs of a database that are running when a run of the morning begins. One that began more than a day ago is lost.
   * A step reads for some seconds, so ten of them leave a database time for deliveries, and 600 accounts an hour.
   */
  ofMorning: 10,
  /** The same when one is started by hand. */
  byHand: 100,
  /** The seconds after which another one may be started by hand. */
  retryAfter: 60,
}

/**
 * How the platform makes a step. One that fails is tried again after 30 s, 60 s, 90 s … for about an
 * hour. An attempt has 10 minutes.
 */
export const STEP_RETRIES = {
  retries: { limit: 15, delay: '30 seconds', backoff: 'linear' },
  timeout: '10 minutes',
} as const

/**
 * How long a run may show no activity, in milliseconds: longer than an attempt of a step and the wait after it. Then it
 * ends as failed.
 */
export const QUIET_MS = 20 * MINUTE_MS
