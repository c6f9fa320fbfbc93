import type { Difference } from '../engine/books.ts'
import type { FactResource } from '../engine/facts.ts'

/** Why a line of a closed period differs from what was approved: a record or a setting that changed. */
export type Cause =
  | RecordCause
  | {
      readonly kind: 'affiliation'
      readonly customer_id: string
      /** The entry of the audit log. */
      readonly audit_id: string
    }
  | {
      /** The first affiliate lasted less than a day, and was replaced from the signup on. */
      readonly kind: 'corrected_early'
      readonly customer_id: string
      readonly delivery_id: string
    }
  | { readonly kind: 'refusal'; readonly customer_id: string; readonly audit_id: string }
  | {
      /** Records waited for rates that have been published since. */
      readonly kind: 'rate'
      readonly currency: string
    }
  | { readonly kind: 'tree'; readonly affiliate_id: string; readonly audit_id: string }
  | {
      readonly kind: 'setting'
      /** The action of the audit log. */
      readonly action: string
      readonly at: string
      readonly audit_id: string
    }

/** A record that a delivery changed. */
export interface RecordCause {
  readonly kind: 'record'
  readonly resource: FactResource
  readonly id: string
  readonly customer_id: string
  /** The day on which it lies or, if it moved, lay before. */
  readonly day: string
  readonly delivery_id: string
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

/** Returns no causes. */
export const NO_CAUSES: CausesOf = () => ({ causes: [], causes_total: 0 })
