import { DAY_MS, MINUTE_MS } from '../../platform/durations.ts'

/** The limits of moves of accounts. */
export const MOVE_LIMITS = {
  /** How long a move waits before it looks again whether a run, a reset or an erasure has ended, in seconds. */
  waitSeconds: 10,
  /** How long the old copy is kept unless a person confirms that it can go, in milliseconds. */
  keptMs: 7 * DAY_MS,
  /** How long it is kept at least: requests that began before the switch have ended by then, in milliseconds. */
  leastMs: 10 * MINUTE_MS,
  /** After how long without a step a cron goes on with a move, in milliseconds: longer than a step takes. */
  quietMs: 45_000,
  /** The moves that one cron goes on with. */
  moves: 20,
}

/**
 * How a Workflow repeats a step of a move that fails: after 5 s, 10 s … for about a minute. An attempt and the wait
 * after it are shorter than `quietMs`: otherwise a cron would go on with the move, and count from the first again.
 */
export const MOVE_RETRIES = {
  retries: { limit: 4, delay: '5 seconds', backoff: 'linear' },
  timeout: '25 seconds',
} as const
