import type { Candidate } from '../../db/commission/books/candidates.ts'
import type { ErrorCode } from '../../errors.ts'
import { BOOK_LIMITS } from './limits.ts'
import { type Refusal, STALE } from './refusal.ts'

/** A statement that could not be approved; an earlier one if the affiliate has none of the period. */
export interface RefusedStatement {
  readonly id: string
  readonly affiliate_id: string
  readonly plan: string
  readonly period: string
  readonly code: ErrorCode
  readonly detail: string
}

/** What became of the statements of a period. */
export interface ApprovalTally {
  approved: number
  waiting: number
  refused: RefusedStatement[]
  total: number
}

/** Whether a row has a statement. Rows without one only carry a balance. */
export const isStatement = ({ chain }: Candidate): boolean => chain[0]?.is_carry === 0

/** Lists the refusal of a draft. */
export function refuse(tally: ApprovalTally, one: Candidate, refusal: Refusal): void {
  // For a carry-only row, the earlier statement is listed instead.
  if (isStatement(one) || refusal.code === STALE.code) list(tally, one, refusal)
}

/** Lists a refusal of a statement, as far as there is room, and counts it. */
export function list(
  tally: ApprovalTally,
  { id, affiliate_id, plan, period }: Pick<Candidate, 'id' | 'affiliate_id' | 'plan' | 'period'>,
  { code, detail }: Refusal,
): void {
  tally.total += 1
  if (tally.refused.length === BOOK_LIMITS.refused) return
  tally.refused.push({ id, affiliate_id, plan, period, code, detail })
}
