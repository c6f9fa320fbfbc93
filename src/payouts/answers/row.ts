import { ApiError } from '../../platform/errors.ts'

// What answers of banks have in common, whatever their format.

/** An amount without a sign. The currency is null if it is that of the account. What cannot be read is empty. */
export interface Stated {
  readonly amount: string
  readonly currency: string | null
}

/** Returns an amount as a bank states it: nothing is guessed, and no words that stand in its place are kept. */
export const stated = (amount: string, currency: string | null): Stated => ({
  amount: /^\d{1,20}(\.\d{1,20})?$/.test(amount) ? amount : '',
  currency: currency === null || /^[A-Z]{3}$/.test(currency) ? currency : '',
})

/** Returns whether an amount can be read. */
export const isAmount = ({ amount }: Stated): boolean => amount !== ''

/** What may become of a transfer, in the order in which rows are booked: a payment before its return. */
export const BECOMES = ['checked', 'accepted', 'rejected', 'paid', 'returned'] as const

/**
 * What a row says of transfers. `checked`: only the name of the owner was compared. `failed`: it came back, or it never
 * left. `pending`: nothing has moved, and nothing is decided.
 */
export type Says = (typeof BECOMES)[number] | 'failed' | 'pending'

/** One row of an answer, or a part of one. */
export interface AnswerRow {
  /** Its position in the file, from 1: that of the line, the entry or the status. */
  readonly row: number
  /** What may be references of ours in it. */
  readonly references: readonly string[]
  readonly says: Says
  /** Why nothing is ever booked of it; null: it is a movement or a status like others. */
  readonly never: string | null
  /** What was booked, or for a status what was ordered; null: it states none. Nothing else decides. */
  readonly amount: Stated | null
  /** What the bank charged within that amount. */
  readonly charges: Stated | null
  /** Other amounts that it states. They are only shown. */
  readonly others: readonly Stated[]
  /** The readings of the booking day (`YYYY-MM-DD`): two if nothing says which number is the month. */
  readonly days: readonly string[]
  /** The number of the payer's account. */
  readonly account: string | null
  /** How the bank calls the movement. */
  readonly bankReference: string | null
  /** An ISO 20022 code of a reason, and what the bank writes about it, or about the name of the owner. */
  readonly code: string | null
  readonly reason: string | null
  /** The transfers that an entry lists. */
  readonly parts: readonly AnswerRow[]
  /** Whether it is of a transfer (0), of a payment (1) or of a group (2): what stands nearer counts. */
  readonly level: number
}

/** What most rows are like. */
export const PLAIN_ROW = {
  never: null,
  amount: null,
  charges: null,
  others: [],
  days: [],
  account: null,
  bankReference: null,
  code: null,
  reason: null,
  parts: [],
  level: 0,
} as const satisfies Partial<AnswerRow>

/** What a reader of a format is given: it calls it for each row. */
export type EachRow = (row: AnswerRow) => void

/** Returns the error for a file that is not booked, in words for the person who has sent it. */
export const refused = (detail: string) =>
  new ApiError('validation_failed', { detail: `${detail} Nothing was changed.` })
