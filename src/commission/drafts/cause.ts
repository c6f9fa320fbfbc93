import type { Difference } from '../engine/books.ts'

/** Why a line of a closed period differs from what was approved: a record or a setting that changed. */
export interface Cause {
  readonly kind: string
}

/** The causes of an adjustment; the first are listed. */
export interface Causes {
  readonly causes: readonly Cause[]
  readonly causes_total: number
}

/** A line of a closed period of an affiliate and plan. */
export interface CorrectedLine extends Pick<Difference, 'period' | 'line'> {
  readonly affiliate_id: string
  readonly plan: string
}

/** Returns the causes of a correction. */
export type CausesOf = (line: CorrectedLine) => Causes

/** Names no cause. */
export const NO_CAUSES: CausesOf = () => ({ causes: [], causes_total: 0 })
