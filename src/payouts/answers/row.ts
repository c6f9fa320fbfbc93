// What answers of banks have in common, whatever their format.

/** An amount without a sign. The currency is null if it is that of the account. */
export interface Stated {
  readonly amount: string
  readonly currency: string | null
}

/**
 * What a row says of transfers. `failed`: it came back, or it never left. `checked`: only the name of the owner was
 * compared. `pending`: it is not booked, or the bank has taken it back.
 */
export type Says = 'accepted' | 'rejected' | 'paid' | 'returned' | 'failed' | 'checked' | 'pending'

/** One row of an answer. */
export interface AnswerRow {
  /** Its position in the file, from 1: that of the line, the entry or the status. */
  readonly row: number
  /** All of it in which a reference may stand. */
  readonly text: string
  readonly says: Says
  /** The amounts that the row states of the same transfer, such as without fees. Empty: it states none. */
  readonly stated: readonly Stated[]
  /** The booking day (`YYYY-MM-DD`). */
  readonly day: string | null
  /** The number of the payer's account. */
  readonly account: string | null
  /** An ISO 20022 code of a reason, and what the bank writes about it. */
  readonly code: string | null
  readonly reason: string | null
  readonly name_check: string | null
}

/** What a reader of a format is given: it calls it for each row. */
export type EachRow = (row: AnswerRow) => void

/** A row that says nothing yet. */
export const EMPTY_ROW = {
  stated: [],
  day: null,
  account: null,
  code: null,
  reason: null,
  name_check: null,
} as const satisfies Partial<AnswerRow>
