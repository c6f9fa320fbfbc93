import { HOUR_MS, MINUTE_MS } from '../durations.ts'

/** The pauses after failed attempts: ten attempts within about a day. */
const PAUSES_MS = [
  5000,
  MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  4 * HOUR_MS,
  5 * HOUR_MS,
  6 * HOUR_MS,
  6 * HOUR_MS,
]

/** How much a pause varies, so that events that failed together are not sent together. */
const JITTER = 0.2

/**
 * Returns the pause after a failed attempt, in milliseconds; null if it was the last one.
 *
 * @param attempts The attempts so far; at least 1.
 * @param random A random number from 0 to 1.
 */
export function pauseAfter(attempts: number, random: number): number | null {
  const pause = PAUSES_MS[attempts - 1]
  if (pause === undefined) return null
  return Math.round(pause * (1 - JITTER / 2 + JITTER * random))
}

/** The longest wait that a receiver can ask for, in milliseconds. */
const MAX_RETRY_AFTER_MS = 2 * HOUR_MS

/**
 * Returns how long `Retry-After` asks to wait from `now` on, at most 2 hours; 0 if it is absent or not valid.
 * All times are in milliseconds.
 *
 * @see [RFC 9110 §10.2.3](https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3)
 */
export function retryAfter(header: string | null, now: number): number {
  const text = header?.trim() ?? ''
  const wait = /^\d+$/.test(text)
    ? Number(text) * 1000
    : text.endsWith(' GMT')
      ? Date.parse(text) - now
      : 0
  return Number.isNaN(wait) ? 0 : Math.max(0, Math.min(wait, MAX_RETRY_AFTER_MS))
}
