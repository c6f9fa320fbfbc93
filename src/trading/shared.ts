import * as v from 'valibot'
import {
  activityTable,
  partnerCustomerTable,
  transactionTable,
} from '../db/records/record-table.ts'
import { describeField } from '../validation/describe.ts'
import * as f from '../validation/fields.ts'

// What both verticals send. Each vertical adds its own words to these.

/** A trader account. */
export const customer = {
  customer_id: describeField(
    f.id,
    'The trader account, for good. Where one user holds several accounts, the id of the account.',
    'C-1001',
  ),
  signup_date: describeField(f.instant, 'When the account was registered.', '2026-10-01T08:30:00Z'),
  last_modified_date: v.optional(
    describeField(
      f.instant,
      'When the record was last changed. Recommended: a version that is strictly older than the stored one is answered `stale`, and changes nothing.',
      '2026-10-02T09:00:00Z',
    ),
  ),
  affiliate_id: describeField(
    f.id,
    'Who referred the trader, and is paid: an affiliate or introducing broker, as configured in the service.',
    'IB-07',
  ),
  tracking_data: describeField(
    f.tracking,
    'What the service put into the URL of the landing page, returned unchanged: 1 to 50 characters.',
    'click-42',
  ),
  lang_id: v.optional(describeField(f.language, 'The language of the trader, as ISO 639-1.', 'de')),
  country_code: v.optional(
    describeField(
      f.country,
      'The country of the trader, as ISO 3166-1 alpha-2. Recommended.',
      'DE',
    ),
  ),
  kyc_status_id: v.optional(
    describeField(
      f.text,
      'How far verification has come; what it means is agreed during onboarding.',
      '2',
    ),
  ),
  sales_status_id: v.optional(
    describeField(f.text, 'Where the trader stands in your own sales pipeline.', 'hot'),
  ),
  first_name: v.optional(
    describeField(f.text, 'The first name. Personal: gone for good once it is erased.', 'Ada'),
  ),
  last_name: v.optional(
    describeField(f.text, 'The last name. Personal: gone for good once it is erased.', 'Lovelace'),
  ),
  email: v.optional(
    describeField(
      f.email,
      'The e-mail address, in ASCII. Personal: gone for good once it is erased.',
      'ada@example.org',
    ),
  ),
}

/** A financial event on a trader account; the vertical says of which types. */
export const transaction = <T extends v.GenericSchema<string>, S extends v.GenericSchema<string>>(
  transaction_type: T,
  subtype: S,
) => ({
  transaction_id: describeField(
    f.id,
    'The transaction, for good. A changed status is sent under the same id.',
    'T-5001',
  ),
  customer_id: describeField(f.id, 'Whose it is: a customer that was sent before.', 'C-1001'),
  transaction_type,
  amount_currency: describeField(
    f.money,
    'The amount, in `currency`: at most 2 decimal places.',
    100.25,
  ),
  currency: describeField(f.currency, 'The original currency.', 'EUR'),
  transaction_date: describeField(f.instant, 'When it happened.', '2026-10-02T09:30:00Z'),
  status: describeField(
    f.text,
    'As you call it, for example `pending`, `approved`, `declined`, `reversed`; what it means is agreed during onboarding.',
    'approved',
  ),
  amount_usd: v.optional(
    describeField(f.amount, 'The amount in USD, if you know it. Absent, it stays absent.', 109.4),
  ),
  transaction_subtype: v.optional(subtype),
  note: v.optional(describeField(f.text, 'Free text, or a reference of your own.', 'order 7')),
})

/** One trader, one day, one instrument, one currency. Sending it again replaces the whole day. */
export const tradingActivity = {
  date: describeField(f.day, 'The day that is summed up.', '2026-10-02'),
  customer_id: describeField(f.id, 'Whose it is: a customer that was sent before.', 'C-1001'),
  instrument: describeField(f.id, 'The symbol, as the trading platform has it.', 'EURUSD'),
  lots_traded: describeField(f.lots, 'Standard lots: at most 2 decimal places.', 1.07),
  currency: describeField(f.currency, 'The currency of the amounts that say no other.', 'USD'),
}

/** Customers, apart from their fields. */
export const customers = {
  name: 'customers',
  title: 'Customer',
  description: 'A trader account, known by `customer_id`. Sent again it is replaced as a whole.',
  dated: 'signup_date',
  hasItemRoute: true,
  groups: [],
  summed: [],
  recordTable: partnerCustomerTable,
  policy: (grant: { unknown_affiliate: 'warn' | 'reject' }) => grant.unknown_affiliate,
}

/** Transactions, apart from their fields. */
export const transactions = {
  name: 'transactions',
  title: 'Transaction',
  description:
    'A financial event on a trader account, known by `transaction_id`. Sent again it is replaced as a whole.',
  dated: 'transaction_date',
  hasItemRoute: true,
  groups: ['transaction_type', 'status', 'currency'],
  summed: ['amount_currency'],
  recordTable: transactionTable,
  policy: (grant: { unknown_customer: 'reject' | 'hold' }) => grant.unknown_customer,
}

/** Trading activity, apart from its fields. */
export const activity = {
  name: 'trading-activity',
  title: 'Trading activity',
  description:
    'What one trader did on one day, with one instrument, in one currency. Sent again it replaces the whole day.',
  dated: 'date',
  hasItemRoute: false,
  groups: ['currency'],
  // Drawdowns are percentages: their sum would say nothing.
  summed: ['lots_traded', 'pnl', 'volume_usd', 'spread_cost', 'commission'],
  recordTable: activityTable,
  policy: transactions.policy,
}
