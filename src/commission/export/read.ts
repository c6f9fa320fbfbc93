import type { Connection } from '../../platform/db/database.ts'
import { unavailable } from '../../platform/errors.ts'
import { readParts, type StatementPart } from '../db/statements.ts'
import type { Adjustment, StatementLine } from '../statements/draft.ts'
import { type presentStatement, splitItems } from '../statements/present.ts'

/** A statement without its lines. */
export type Presented = ReturnType<typeof presentStatement>

/** A part of the lines and adjustments of a statement. */
export interface Part {
  /** The hash of the statement as it is stored, from which the part was read. */
  readonly hash: string
  readonly lines: readonly StatementLine[]
  readonly adjustments: readonly Adjustment[]
  /** The number of this part, from 1, and of all parts. */
  readonly part: number
  readonly parts: number
}

/** Returns the part of a row; throws `unavailable` if the statement is not the one that was found. */
function toPart(hash: string, part: number, found: StatementPart | undefined): Part {
  if (found?.hash !== hash || found.lines === null) {
    throw unavailable(new Error('The statement has changed while it was read.'))
  }
  return { hash, ...splitItems(JSON.parse(found.lines)), part, parts: found.parts }
}

/** Whose statements are read. */
export interface Books {
  readonly db: Connection
  readonly account: string
}

/**
 * Yields parts of a statement, at most `most` from `first` on.
 *
 * @throws ApiError `unavailable` if the statement changes meanwhile.
 */
export async function* partsFrom(
  { db, account }: Books,
  { id }: Presented,
  first: Part,
  most: number,
): AsyncGenerator<Part> {
  yield first
  const end = Math.min(first.parts, first.part + most - 1)
  for (let part = first.part + 1; part <= end; part++) {
    const [found] = await readParts(db, account, [id], part)
    yield toPart(first.hash, part, found)
  }
}
