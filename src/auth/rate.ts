/** The contract: the maximum number of requests per token in any minute. */
export const REQUESTS_PER_WINDOW = 1000

/** The length of the window, in milliseconds. */
export const WINDOW_MS = 60_000

/** The decision on one request, and the values of its rate limit headers. */
export interface Decision {
  /** The times of the admitted requests of the last minute, with this one if it is admitted. */
  times: readonly number[]
  /** Whole seconds until a request of this weight is admitted; 0 if this one is. */
  retryAfter: number
  remaining: number
  /** Whole seconds until the quota grows again. */
  reset: number
}

/**
 * Decides on one request at `now` (milliseconds) that counts as `weight` requests. `times` are those of the admitted
 * requests of the last minute, oldest first: one of weight n is there n times. So no span of 60 s has more than 1000.
 */
export function decide(times: readonly number[], now: number, weight: number): Decision {
  const time = Math.max(now, times.at(-1) ?? 0)
  const recent =
    (times[0] ?? 0) > time - WINDOW_MS ? times : times.filter((t) => t > time - WINDOW_MS)
  const secondsUntilEnd = (t = time) => Math.ceil((t + WINDOW_MS - time) / 1000)
  const reset = secondsUntilEnd(recent[0])
  const remaining = REQUESTS_PER_WINDOW - recent.length
  if (weight > remaining) {
    const retryAfter = secondsUntilEnd(recent.at(weight - 1 - REQUESTS_PER_WINDOW))
    return { times, retryAfter, remaining, reset }
  }
  const admitted = [...recent, ...Array<number>(weight).fill(time)]
  return { times: admitted, retryAfter: 0, remaining: remaining - weight, reset }
}
