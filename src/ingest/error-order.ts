import { MAX_LISTED_PER_RECORD } from '../platform/validation/record-validator.ts'

/** An error; `index` is the position of its record, absent for an error of the whole body. */
interface RecordError {
  index?: number
}

/**
 * Returns errors in the order in which a limited list takes them: the first error of each record,
 * then the second of each, and so on up to 10, so that every invalid record is named. Errors of the
 * whole body come first in their round and are not limited to 10.
 */
export function prioritizeErrors<T extends RecordError>(errors: readonly T[]): T[] {
  const counts = new Map<number | undefined, number>()
  const rounds: T[][] = []
  for (const error of errors) {
    const round = counts.get(error.index) ?? 0
    counts.set(error.index, round + 1)
    if (error.index !== undefined && round >= MAX_LISTED_PER_RECORD) continue
    const sameRound = rounds[round]
    if (sameRound) sameRound.push(error)
    else rounds[round] = [error]
  }
  return rounds.flatMap(inRecordOrder)
}

/** Returns errors in the order of their records; errors of the whole body come first. */
export const inRecordOrder = <T extends RecordError>(errors: readonly T[]): T[] =>
  errors.toSorted((a, b) => (a.index ?? -1) - (b.index ?? -1))
