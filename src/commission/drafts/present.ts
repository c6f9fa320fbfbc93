import type { FoundStatement, ListedStatement } from '../../db/commission/statements.ts'
import type { Draft, StatementHead } from './draft.ts'
import { PART_LIMITS } from './limits.ts'

/** Returns a stored statement as lists show it. */
export function presentStatement({ statement, status, hash, computed_at }: ListedStatement) {
  const head: StatementHead = JSON.parse(statement)
  return { ...head, status, hash, computed_at }
}

/** Returns a stored statement with one part of its lines. */
export const presentWhole = (found: FoundStatement, part: number) => ({
  ...presentStatement(found),
  lines: JSON.parse(found.lines),
  part,
  parts: found.parts,
})

/** Returns a statement that was computed and is not stored, with its first lines. */
export const presentDraft = ({ head, lines, hash }: Draft, computedAt: string) => ({
  ...head,
  status: 'draft',
  hash,
  computed_at: computedAt,
  lines: lines.slice(0, PART_LIMITS.lines),
})
