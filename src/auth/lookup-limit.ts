import { unavailable } from '../errors.ts'

/**
 * Returns a function that counts look-ups in an isolate. `subject` names what is looked up, for the log.
 * The function throws ApiError `unavailable` beyond `perSecond` calls in the second of `now`
 * (milliseconds).
 */
export function newLookupLimit(perSecond: number, subject: string): (now: number) => void {
  let second = 0
  let lookups = 0
  return (now) => {
    const current = Math.floor(now / 1000)
    if (second !== current) lookups = 0
    second = current
    lookups += 1
    if (lookups > perSecond) throw unavailable(new Error(`Too many unknown ${subject}.`), 1)
  }
}
