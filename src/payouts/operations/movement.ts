import * as v from 'valibot'
import { currency } from '../../books/operations/ledger.ts'
import { component, described } from '../../platform/validation/described.ts'
import { member, nullable } from '../../platform/validation/fields.ts'
import { MOVEMENT_DOUBTS } from '../model.ts'

const text = v.string()

/** What answers say of their movements. */
export const SHOWN_MOVEMENTS = described(
  () =>
    'What moved and is not booked, until a person books or dismisses it, and what a person booked with a difference.',
)

/** A movement of money of a transfer or a batch, as answers have it. */
export const bankMovement = component('BankMovement', () => ({
  reference: member(text, 'Of the transfer, or of the batch.'),
  doubt: nullable(v.picklist(MOVEMENT_DOUBTS), 'Why it is not booked. Null: a person booked it.'),
  direction: member(v.picklist(['paid', 'returned']), 'Whether it left or came back.'),
  day: member(text, 'The booking day, or nothing if it cannot be read.'),
  amount: nullable(text, 'The amount. Null if it cannot be read.'),
  currency: v.nullable(currency),
  ordered: nullable(text, 'What the transfer orders. Null for a batch.'),
  ordered_currency: nullable(currency, 'The currency of the transfer.'),
  bank_reference: member(text, 'How the bank calls it, or nothing.'),
  code: nullable(text, 'The code with which it came back, or null.'),
  reason: nullable(text, 'What the bank says of it, or null.'),
  difference: nullable(
    v.picklist(['fee', 'owed']),
    'What became of the difference: the bank kept it, or the rest stays as it was.',
  ),
  note: nullable(text, 'Why, as the person says who booked it.'),
  can_book: member(v.boolean(), 'Whether a person can book it at its transfer.'),
}))
