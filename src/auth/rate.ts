/** The contract: 1000 requests per minute per token. */
export const REQUESTS_PER_WINDOW = 1000

/** The length of that minute, in milliseconds. */
export const WINDOW_MS = 60_000

/** How many requests may pass on one written lease. */
export const LEASE_SIZE = 25

/** How long nothing comes before a lease is closed, in milliseconds. */
export const LEASE_IDLE_MS = 5000

/** When requests were let through, oldest first, and what was promised to storage about the next. */
export interface RateState {
  readonly times: readonly number[]
  /** How many requests may follow the written log unwritten; 0: the written log is complete. */
  readonly lease: number
  /** How many have followed. */
  readonly used: number
}

/** A token that was never used. */
export const INITIAL_RATE: RateState = { times: [], lease: 0, used: 0 }

/** What becomes of one request, and what its caller may know of the rest of the minute. */
export interface Decision {
  rate: RateState
  /** Whether the state must reach storage before the answer leaves. */
  write: boolean
  /** Whole seconds to wait, after which the next request passes; 0: let through. */
  retryAfter: number
  remaining: number
  /** Whole seconds until the quota grows again. */
  reset: number
}

/**
 * Decides one request at `now` (milliseconds) by the times of those let through before.
 *
 * Exact: each of them is remembered, at most 1000, so in no span of 60 s are more let through. A
 * refused request changes nothing. Not every one is written: a written log carries a lease, the
 * number of requests that may follow unwritten, which `recover` counts as made.
 */
export function decide(rate: RateState, clock: number): Decision {
  const { times, lease, used } = rate
  const last = times.at(-1) ?? 0
  const now = Math.max(clock, last)
  const recent = times[0]! > now - WINDOW_MS ? times : times.filter((t) => t > now - WINDOW_MS)
  if (recent.length >= REQUESTS_PER_WINDOW) {
    // After a crash there may be more than the limit: so many must leave the window first.
    const reset = Math.ceil((recent[recent.length - REQUESTS_PER_WINDOW]! + WINDOW_MS - now) / 1000)
    return { rate, write: false, retryAfter: reset, remaining: 0, reset }
  }
  const passed = [...recent, now]
  // After a pause the written lease no longer bounds when its requests were made.
  const write = used === lease || now - last > LEASE_IDLE_MS
  return {
    rate: { times: passed, lease: write ? LEASE_SIZE : lease, used: write ? 0 : used + 1 },
    write,
    retryAfter: 0,
    remaining: REQUESTS_PER_WINDOW - passed.length,
    reset: Math.ceil((passed[0]! + WINDOW_MS - now) / 1000),
  }
}

/**
 * The state after memory was lost. An open lease counts as spent, as late as it can have been:
 * its requests followed each other within the pause that would have closed it.
 */
export function recover({ times, lease }: RateState, now: number): RateState {
  const latest = Math.min(now, (times.at(-1) ?? now) + lease * LEASE_IDLE_MS)
  return { times: [...times, ...Array<number>(lease).fill(latest)], lease: 0, used: 0 }
}

/** The state as it is written when nothing has come for a while: the true count, no lease. */
export const settle = ({ times }: RateState): RateState => ({ times, lease: 0, used: 0 })
