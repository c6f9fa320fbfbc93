import { HOUR_MS, MINUTE_MS } from '../durations.ts'

/** The pauses after failed attempts: ten attempts in about a day. */
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
