import * as v from 'valibot'
import { activityShelf, customerShelf, transactionShelf } from '../db/shelf.ts'
import * as f from '../fields.ts'

// What both verticals send. Each vertical adds its own words to these.

/** A trader account. */
export const customer = {
  customer_id: f.id,
  signup_date: f.instant,
  last_modified_date: v.optional(f.instant),
  affiliate_id: f.id,
  tracking_data: f.tracking,
  lang_id: v.optional(f.language),
  country_code: v.optional(f.country),
  kyc_status_id: v.optional(f.text),
  sales_status_id: v.optional(f.text),
  first_name: v.optional(f.text),
  last_name: v.optional(f.text),
  email: v.optional(f.email),
}

/** A financial event on a trader account; the vertical says of which types. */
export const transaction = {
  transaction_id: f.id,
  customer_id: f.id,
  amount_currency: f.money,
  currency: f.currency,
  transaction_date: f.instant,
  status: f.text,
  amount_usd: v.optional(f.amount),
  transaction_subtype: v.optional(f.text),
  note: v.optional(f.text),
}

/** One trader, one day, one instrument, one currency. Sending it again replaces the whole day. */
export const tradingActivity = {
  date: f.day,
  customer_id: f.id,
  instrument: f.id,
  lots_traded: f.lots,
  currency: f.currency,
}

/** Customers, apart from their fields. */
export const customers = {
  name: 'customers',
  dated: 'signup_date',
  single: true,
  groups: [],
  summed: [],
  shelf: customerShelf,
  policy: (grant: { unknown_affiliate: 'warn' | 'reject' }) => grant.unknown_affiliate,
}

/** Transactions, apart from their fields. */
export const transactions = {
  name: 'transactions',
  dated: 'transaction_date',
  single: true,
  groups: ['transaction_type', 'status', 'currency'],
  summed: ['amount_currency'],
  shelf: transactionShelf,
  policy: (grant: { unknown_customer: 'reject' | 'hold' }) => grant.unknown_customer,
}

/** Trading activity, apart from its fields. */
export const activity = {
  name: 'trading-activity',
  dated: 'date',
  single: false,
  groups: ['currency'],
  // Drawdowns are percentages: their sum would say nothing.
  summed: ['lots_traded', 'pnl', 'volume_usd', 'spread_cost', 'commission'],
  shelf: activityShelf,
  policy: transactions.policy,
}
