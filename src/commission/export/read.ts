import { readParts, type StatementPart } from '../../db/commission/statements.ts'
import type { Connection } from '../../db/database.ts'
import type { FoundPage } from '../../db/paginate.ts'
import { unavailable } from '../../errors.ts'
import type { Adjustment, StatementLine } from '../statements/draft.ts'
import { type presentStatement, splitItems } from '../statements/present.ts'
import { GROUP_LIMITS, PAGE_LIMITS } from './limits.ts'

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

/** Returns how many lines and adjustments a statement has. */
export const itemsOf = ({ lines_total, adjustments_total }: Presented): number =>
  lines_total + adjustments_total

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

/** Divides statements into groups of few lines, or of one statement. */
function groupsOf(statements: readonly Presented[]): Presented[][] {
  const groups: Presented[][] = []
  let lines = 0
  for (const statement of statements) {
    const group = groups.at(-1)
    const more = itemsOf(statement)
    const fits =
      group && group.length < GROUP_LIMITS.statements && lines + more <= GROUP_LIMITS.lines
    if (fits) group.push(statement)
    else groups.push([statement])
    lines = fits ? lines + more : more
  }
  return groups
}

/**
 * Yields statements with their first parts.
 *
 * @throws ApiError `unavailable` if one of them changes meanwhile.
 */
export async function* withFirstParts(
  { db, account }: Books,
  statements: readonly Presented[],
): AsyncGenerator<{ statement: Presented; first: Part }> {
  for (const group of groupsOf(statements)) {
    const ids = group.map(({ id }) => id)
    const found = new Map((await readParts(db, account, ids, 1)).map((one) => [one.id, one]))
    for (const statement of group) {
      yield { statement, first: toPart(statement.hash, 1, found.get(statement.id)) }
    }
  }
}

/**
 * Returns the first rows of a page that a printable page can list: rows of at most 5,000 lines, or one
 * row.
 */
export function withinLines<
  T extends Presented & Record<Key, string>,
  Key extends keyof T & string,
>(found: FoundPage<T>, key: readonly Key[]): FoundPage<T> {
  let lines = 0
  const beyond = found.data.findIndex((one, i) => {
    lines += itemsOf(one)
    return i > 0 && lines > PAGE_LIMITS.lines
  })
  const last = found.data[beyond - 1]
  if (!last) return found
  return { ...found, data: found.data.slice(0, beyond), last: key.map((name) => last[name]) }
}
