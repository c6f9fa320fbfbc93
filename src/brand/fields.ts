import { describeField } from '../validation/describe.ts'
import * as f from '../validation/fields.ts'
import { decimal } from './decimal.ts'

// The members that we know of what brands send, in their own names. All others are kept as sent.

/** A time, on the clock of the account's zone or with an offset: `readTime` says which there are. */
export const time = describeField(
  f.text,
  "A time on the clock of the account's time zone, a day, or an RFC 3339 date-time.",
)

/** Known members of a customer; `customerId` alone is required. */
export const customer = {
  customerId: describeField(
    f.id,
    'The player, for good: sent again, what is known is augmented.',
    'P-1001',
  ),
  regtime: describeField(
    time,
    'When the player registered. Recommended, as YYYY-MM-DD HH:mm.',
    '2026-10-01 08:30',
  ),
  country: describeField(f.text, 'The country, best as ISO 3166-1 alpha-2.', 'DE'),
  firstName: describeField(
    f.text,
    'The first name. Personal: gone for good once it is erased.',
    'Eve',
  ),
  lastName: describeField(
    f.text,
    'The last name. Personal: gone for good once it is erased.',
    'Moran',
  ),
  tracking_data: describeField(
    f.tracking,
    'What the service put into the URL of the landing page, returned unchanged. It never fails a call: what cannot be ours is stored as absent, with the warning `altered`.',
    'tr1kBm7Qx2VnR8sYt4Wz6LcDf0GhJ3pTa5UeXvNq9MbKyRw',
  ),
}

/** The columns that keep a customer. */
export const COLUMNS = {
  customerId: 'customer_id',
  regtime: 'regtime',
  country: 'country_code',
  firstName: 'first_name',
  lastName: 'last_name',
  tracking_data: 'tracking_data',
} as const

/** Known members of an activity; `eventname` and `customerid` are required, and an amount. */
export const activity = {
  eventname: describeField(
    f.id,
    'What happened, in a word agreed with the integrations team.',
    'Deposit',
  ),
  customerid: describeField(f.id, 'Whose it is: the `customerId` of a customer.', 'P-1001'),
  eventid: describeField(
    f.id,
    'What tells this event from all others, for good: sent again it is replaced, never counted twice, unless its definition ignores it.',
    'dep-778',
  ),
  createtime: describeField(
    time,
    'When it happened; recommended. A day without a time makes it a daily aggregate, which a re-send replaces.',
    '2026-10-02 09:30',
  ),
  Value: describeField(decimal, 'The amount of an event that has one.', '100.00'),
  Currency: describeField(f.currency, 'The currency of the amounts. Recommended.', 'EUR'),
  product: describeField(
    f.text,
    'The product line: `casino`, `sports`, `poker` or `bingo`, or what the event definition maps to one of them.',
    'casino',
  ),
}
