import type { Outcome } from '../db/fraud/outcomes.ts'
import type { Case } from './cases.ts'
import type { Evidence, Figure, Subject } from './kind.ts'

// A back-test on the wire.

/** An amount of a currency that is held, and of how many statements. */
export interface HeldSum {
  readonly currency: string
  readonly amount: string
  readonly statements: number
}

/** A case that a rule would have opened, on the wire. */
export interface PresentedCase {
  readonly subject: Subject
  readonly affiliate_id: string
  /** The version that found it last; null if it is not stored. */
  readonly version: number | null
  readonly action: 'flag' | 'hold'
  readonly status: Case['status']
  readonly opened_for: string
  readonly last_evidence_for: string
  readonly figures: readonly Figure[]
  readonly sentence: string
  readonly evidence: readonly (Omit<Evidence, 'day' | 'delivery_id'> & {
    readonly day: string
    readonly delivery_id: string | null
  })[]
  readonly evidence_total: number
  readonly would_hold: readonly HeldSum[]
  /** What persons decided of the same case; null if they did not. */
  readonly outcome: Outcome | null
  /** Whether the version in force would have opened it, too; null if none is compared. */
  readonly also_in_force: boolean | null
}

/** What the version in force would have done on the same days. */
export interface ComparedVersion {
  readonly version: number
  readonly cases: number
  /** How many of its cases are the same. */
  readonly same: number
  readonly would_hold: readonly HeldSum[]
}

/** One page of a back-test, on the wire. */
export interface SimulatedPage {
  readonly rule: string
  readonly from: string
  readonly to: string
  readonly kind: string
  readonly data: readonly PresentedCase[]
  /** How many cases would have been opened for each day; days without any are absent. */
  readonly opened: readonly { readonly day: string; readonly cases: number }[]
  readonly would_hold: readonly HeldSum[]
  /** Null if the stored versions are tested, or none is in force. */
  readonly compared_with: ComparedVersion | null
  /** How many of the cases persons have confirmed, dismissed, and confirmed but released later. */
  readonly outcomes: Readonly<Record<Outcome, number>>
  /** The number of affiliates of the page. */
  readonly affiliates: number
  readonly skipped: readonly { readonly affiliate_id: string; readonly reason: string }[]
  readonly meta: { readonly next_cursor: string | null }
}
