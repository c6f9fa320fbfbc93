import { DAY_MS, HOUR_MS, MINUTE_MS } from '../platform/durations.ts'

/** The limits of webhooks. */
export const WEBHOOK_LIMITS = {
  /** The maximum number of endpoints of an account. */
  endpoints: 10,
  /** The maximum number of postbacks of an affiliate. */
  postbacks: 5,
  /** The maximum number of characters of a URL, after normalization. */
  urlLength: 2000,
  /** The maximum number of events that are sent to one endpoint at the same time. */
  inFlight: 10,
  /** The time for an attempt, from the connection to the headers of the response, in milliseconds. */
  attemptMs: 10_000,
  /** How long events are kept, in milliseconds. */
  keptMs: 30 * DAY_MS,
  /** How long notices are kept, in milliseconds. */
  noticesKeptMs: 90 * DAY_MS,
  /** An endpoint that has failed for this long is disabled, in milliseconds. */
  failingMs: 3 * DAY_MS,
} as const

/** The pauses after failed attempts, in milliseconds: ten attempts within about a day. */
export const PAUSES_MS = [
  MINUTE_MS,
  5 * MINUTE_MS,
  15 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  4 * HOUR_MS,
  5 * HOUR_MS,
  6 * HOUR_MS,
  6 * HOUR_MS,
]
