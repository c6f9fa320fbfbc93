import { dayNumber, dayText } from './column-types.ts'

/** A day as histories store it: days since 1970. */
type StoredDay = number

/** The stored day of what holds from the beginning. */
export const BEGINNING: StoredDay = -719_528

/** A part of a history: what holds from a day on, up to the next part. */
export interface Since {
  /** The first day, as `YYYY-MM-DD`; null: from the beginning. */
  readonly from: string | null
}

/** Returns the stored day of the first day of a part; null: from the beginning. */
export const toDay = (from: string | null): StoredDay =>
  from === null ? BEGINNING : dayNumber(from)

/** Returns the stored day of a part as a day; null for the beginning. */
export const fromOf = (day: StoredDay): string | null => (day === BEGINNING ? null : dayText(day))

/** Returns a history without the parts that only repeat the one before them. */
export const withoutRepeats = <P extends Since>(
  history: readonly P[],
  isSame: (a: P, b: P) => boolean,
): P[] =>
  history.filter((part, i) => {
    const before = history[i - 1]
    return before === undefined || !isSame(before, part)
  })

/** Returns the part of a history that holds on a day. */
export function partOn<P extends Since>(history: readonly P[], day: string): P | undefined {
  return history.findLast(({ from }) => from === null || from <= day)
}

/**
 * Returns the first day on which two histories have different values, of which each part holds from its `from` on; null if
 * they do from the beginning, undefined if they are the same.
 */
export function firstDifference<Part extends Since>(
  before: readonly Part[],
  after: readonly Part[],
  read: (part: Part | undefined) => unknown,
): string | null | undefined {
  const days = [...new Set([...before, ...after].map(({ from }) => from ?? ''))].sort()
  const first = days.find((day) => read(partOn(before, day)) !== read(partOn(after, day)))
  return first === '' ? null : first
}
