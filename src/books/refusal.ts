import { counted } from '../commission/words/english.ts'
import { ApiError, type ErrorCode } from '../platform/errors.ts'
import type { ApprovedRow, Candidate } from './db/approve.ts'

/** Why a statement cannot be approved. */
export const REFUSALS = ['earlier_not_approved', 'stale', 'holds', 'not_run'] as const

/** Why a statement cannot be approved, and what to do. */
export interface Refusal {
  readonly code: (typeof REFUSALS)[number]
  readonly detail: string
  /** The currencies whose rates are missing; absent if none is. */
  readonly currencies?: readonly string[]
}

/** Returns the error of a refusal. */
export const refused = ({ code, detail }: { code: ErrorCode; detail: string }) =>
  new ApiError(code, { detail })

/** The refusal of a statement that no longer builds on what was approved. */
export const STALE: Refusal = {
  code: 'stale',
  detail:
    'This draft is outdated: another statement or entry was approved or computed after it. Run the period again, and approve the new draft.',
}

/** Returns the refusal of a draft that a computation of its period no longer comes to. */
export const notVouched = (period: string): Refusal => ({
  code: 'not_run',
  detail: `What this draft is computed from has changed since the last run of ${period}. Run the period again, and approve the new draft.`,
})

/** Returns the refusal of a period that has not ended. */
export const notOver = (period: string, end: number) => ({
  code: 'period_not_over' as const,
  detail: `The period ${period} can be approved from ${new Date(end).toISOString()} on.`,
})

const notApproved = (id: string): Refusal => ({
  code: 'earlier_not_approved',
  detail: `An earlier statement, ${id}, is not approved yet. Approve it first.`,
})

const holds = ({ held, lacking }: Candidate): Refusal => ({
  code: 'holds',
  currencies: lacking,
  detail: `${counted(held, 'record')} ${held === 1 ? 'waits' : 'wait'} for a rate or a currency. Import rates and run the period again, or approve with \`"leave_out_holds": true\`: a later period pays them once a rate exists.`,
})

/** Returns why a draft cannot be approved now; null if it can. */
export function refusalOf(candidate: Candidate, leaveOutHolds: boolean): Refusal | null {
  const { chain, closed, outdated, sender, held } = candidate
  for (const [i, row] of chain.entries()) {
    if (i > 0 && row.status === 'draft' && row.is_carry === 0) return notApproved(row.id)
  }
  if (sender !== null) return notApproved(sender)
  const isBroken = chain.some(
    ({ status, previous }, i) => status === 'draft' && previous !== (chain[i + 1]?.digest ?? ''),
  )
  if (isBroken || closed === 1 || outdated === 1) return STALE
  return held > 0 && !leaveOutHolds ? holds(candidate) : null
}

/** Returns the rows that are approved with a draft: itself, and those before it that only carry. */
export const rowsOf = ({ id: target, chain }: Candidate): ApprovedRow[] =>
  chain.filter(({ status }) => status === 'draft').map(({ id, digest }) => ({ id, digest, target }))
