import { ApiError } from '../../platform/errors.ts'

// What answers of banks have in common, whatever their format.

/** An amount without a sign. The currency is null if it is that of the account. */
export interface Stated {
  readonly amount: string
  readonly currency: string | null
}

/** What may become of a transfer, in the order in which rows are booked: a payment before its return. */
export const BECOMES = ['checked', 'accepted', 'rejected', 'paid', 'returned'] as const

/**
 * What a row says of transfers. `checked`: only the name of the owner was compared. `failed`: it came back, or it never
 * left. `pending`: it is not booked, or the bank has taken it back.
 */
export type Says = (typeof BECOMES)[number] | 'failed' | 'pending'

/** One row of an answer. */
export interface AnswerRow {
  /** Its position in the file, from 1: that of the line, the entry or the status. */
  readonly row: number
  /** What may be references of ours in it. */
  readonly references: readonly string[]
  readonly says: Says
  /** The amounts that the row states of the same transfer, such as without fees. Empty: it states none. */
  readonly stated: readonly Stated[]
  /** The booking day (`YYYY-MM-DD`). */
  readonly day: string | null
  /** The number of the payer's account. */
  readonly account: string | null
  /** An ISO 20022 code of a reason, and what the bank writes about it, or about the name of the owner. */
  readonly code: string | null
  readonly reason: string | null
}

/** What a reader of a format is given: it calls it for each row. */
export type EachRow = (row: AnswerRow) => void

/** Returns the error for a file that is not booked, in words for the person who has sent it. */
export const refused = (detail: string) =>
  new ApiError('validation_failed', { detail: `${detail} Nothing was changed.` })
