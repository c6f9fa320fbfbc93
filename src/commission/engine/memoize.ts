import type { Period } from './calendar.ts'

function memoizeBy<Argument, Result>(
  toKey: (argument: Argument) => unknown,
  compute: (argument: Argument) => Result,
): (argument: Argument) => Result {
  const known = new Map<unknown, Result>()
  return (argument) => {
    const key = toKey(argument)
    const found = known.get(key) ?? compute(argument)
    known.set(key, found)
    return found
  }
}

/** Returns a function that computes its result once for each key. A result is never null. */
export const memoize = <Key, Result>(compute: (key: Key) => Result): ((key: Key) => Result) =>
  memoizeBy((key) => key, compute)

/** Returns a function that computes its result once for each period. */
export const oncePerPeriod = <Result>(
  compute: (period: Period) => Result,
): ((period: Period) => Result) => memoizeBy(({ id }) => id, compute)
