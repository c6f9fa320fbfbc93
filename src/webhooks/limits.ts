import { DAY_MS } from '../platform/durations.ts'

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
  /** An endpoint that has failed for this long is disabled, in milliseconds. */
  failingMs: 3 * DAY_MS,
} as const
