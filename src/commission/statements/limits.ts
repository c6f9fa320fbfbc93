import { DAY_MS, MINUTE_MS } from '../../platform/durations.ts'
import type { Period } from '../engine/calendar.ts'

/** The maximum number of facts that a request may read to compute its response. */
export const FRESH_LIMITS = { facts: 50_000 }

/** The maximum number of lines of a part of a statement, and about that of their bytes and of those of steps in a row. */
export const PART_LIMITS = { lines: 1000, bytes: 400_000, stepBytes: 600_000 }

/** The maximum number of causes that an adjustment lists, and of those that it counts. */
export const CAUSE_LIMITS = { listed: 20, counted: 1000 }

/** The limits of one step of a run. */
export const STEP_LIMITS = {
  /** The customers whose facts it reads, unless one affiliate alone depends on more. */
  customers: 120_000,
  affiliates: 1000,
}

/** A period that begins more than this many years ahead is refused: its year must be mistyped. */
const YEARS_AHEAD = 10

/** Whether a period begins more than 10 years after `now` (milliseconds). */
export const isFarAhead = ({ first }: Period, now: number): boolean =>
  first > now / DAY_MS + 366 * YEARS_AHEAD

/** The forms of a period, in errors of a query. */
export const PERIOD_FORMS = 'a month such as `2026-10` or a week such as `2026-W41`'

/** The error of such a period in a query. */
export const FAR_AHEAD = '`period` is more than 10 years ahead.'

/** The limits of runs. */
export const RUN_LIMITS = {
  /**
   * The runs of a database that are running when a run of the morning begins. A step reads for some seconds,
   * so ten of them leave a database time for deliveries, and 600 accounts an hour.
   */
  ofDatabase: 10,
  /** The runs of an account that are running when one is started by hand. One that began more than a day ago is lost. */
  running: 20,
  /** The seconds after which another one may be started. */
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

/** The limits of resuming runs that have stopped. */
export const RESUME_LIMITS = {
  /**
   * How long a run may show no activity, in milliseconds: longer than an attempt and the wait after
   * it.
   */
  quietMs: 20 * MINUTE_MS,
  /** How often a Workflow is restarted while no step of the run ends. */
  restarts: 5,
  /** The runs of a database that one job resumes. */
  runs: 15,
}
