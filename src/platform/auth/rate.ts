/** The contract: the maximum number of requests per token in any minute. */
export const REQUESTS_PER_WINDOW = 1000

/** The length of the window, in milliseconds. */
export const WINDOW_MS = 60_000

/** How many requests may pass before the state is written again. */
export const LEASE_SIZE = 25

/** How long a token must be idle before its lease is closed, in milliseconds. */
export const LEASE_IDLE_MS = 5000

/** The times of admitted requests and the open lease. */
export interface RateState {
  /** The times of the admitted requests of the last minute in milliseconds, oldest first. */
  readonly times: readonly number[]
  /** How many requests may pass without another write; 0 if the stored state is complete. */
  readonly lease: number
  /** How many of them have passed. */
  readonly used: number
}

/** The state of a token that was never used. */
export const INITIAL_RATE: RateState = { times: [], lease: 0, used: 0 }

/** The decision on one request, and the values of its rate limit headers. */
export interface Decision {
  rate: RateState
  /** Whether the state must be stored before the response is sent. */
  write: boolean
  /** Whole seconds until a request is admitted; 0 if this one is. */
  retryAfter: number
  remaining: number
  /** Whole seconds until the quota grows again. */
  reset: number
}

/**
 * Decides on one request at `now` (milliseconds).
 *
 * The limit is exact: the state has the time of each admitted request, at most 1000, so no span of
 * 60 s has more. A refused request changes nothing. A write reserves the next 25 requests in
 * advance. If memory is lost, `recover` counts all 25.
 */
export function decide(rate: RateState, now: number): Decision {
  const { times, lease, used } = rate
  const last = times.at(-1) ?? 0
  const time = Math.max(now, last)
  const recent =
    (times[0] ?? 0) > time - WINDOW_MS ? times : times.filter((t) => t > time - WINDOW_MS)
  const secondsUntilEnd = (t = time) => Math.ceil((t + WINDOW_MS - time) / 1000)
  // After a crash there may be more than the limit; the surplus must leave the window first.
  const lastToLeave = recent.at(-REQUESTS_PER_WINDOW)
  if (lastToLeave !== undefined) {
    const wait = secondsUntilEnd(lastToLeave)
    return { rate, write: false, retryAfter: wait, remaining: 0, reset: wait }
  }
  // After a pause of 5 s, write again: `recover` assumes gaps of at most 5 s between reserved
  // requests.
  const write = used >= lease || time - last > LEASE_IDLE_MS
  return {
    rate: {
      times: [...recent, time],
      lease: write ? LEASE_SIZE : lease,
      used: write ? 0 : used + 1,
    },
    write,
    retryAfter: 0,
    remaining: REQUESTS_PER_WINDOW - recent.length - 1,
    reset: secondsUntilEnd(recent[0]),
  }
}

/**
 * Returns the state after memory was lost. All requests of an open lease count. They count as made
 * at the latest time they can have been: at most 5 s apart.
 */
export function recover({ times, lease }: RateState, now: number): RateState {
  const latest = Math.min(now, (times.at(-1) ?? now) + lease * LEASE_IDLE_MS)
  return { times: [...times, ...Array<number>(lease).fill(latest)], lease: 0, used: 0 }
}

/** Returns the state to store once the token is idle: the exact times and no lease. */
export const settle = ({ times }: RateState): RateState => ({ times, lease: 0, used: 0 })
