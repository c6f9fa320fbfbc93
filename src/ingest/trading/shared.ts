import * as v from 'valibot'
import * as f from '../../platform/validation/fields.ts'
import { member, optional, said } from '../../platform/validation/fields.ts'

// The fields that both partner verticals share. Each vertical adds its own.

/** The shared fields of a customer: one trader account. */
export const customer = {
  customer_id: member(
    f.id,
    said(
      'Identifies the trader account. The id never changes. If one user has several accounts, send the id of each account.',
      'C-1001',
    ),
  ),
  signup_date: member(
    f.instant,
    said('When the trader account was registered.', '2026-10-01T08:30:00Z'),
  ),
  last_modified_date: optional(
    f.instant,
    said(
      'When the record was last changed. Recommended. An older version than the stored one gets `stale` and changes nothing.',
      '2026-10-02T09:00:00Z',
    ),
  ),
  affiliate_id: member(
    f.id,
    said(
      'Identifies the affiliate or introducing broker who referred the trader and is paid for this customer.',
      'IB-07',
    ),
  ),
  tracking_data: member(
    f.tracking,
    said(
      'The value that the service added to the landing page URL, returned unchanged: 1 to 50 characters.',
      'click-42',
    ),
  ),
  lang_id: optional(f.language, said("The trader's language, as an ISO 639-1 code.", 'de')),
  country_code: optional(
    f.country,
    said("The trader's country, as an ISO 3166-1 alpha-2 code. Recommended.", 'DE'),
  ),
  kyc_status_id: optional(
    f.text,
    said(
      'The status of identity verification (KYC), in your own terms; their meaning is agreed during onboarding.',
      '2',
    ),
  ),
  sales_status_id: optional(
    f.text,
    said("The trader's status in your sales pipeline, in your own terms.", 'hot'),
  ),
  first_name: optional(
    f.text,
    said("The trader's first name. Personal data: an erasure removes it permanently.", 'Ada'),
  ),
  last_name: optional(
    f.text,
    said("The trader's last name. Personal data: an erasure removes it permanently.", 'Lovelace'),
  ),
  email: optional(
    f.email,
    said(
      "The trader's email address. Personal data: an erasure removes it permanently.",
      'ada@example.org',
    ),
  ),
}

const customer_id = member(
  f.id,
  said('Identifies the trader account, which must have been sent as a customer.', 'C-1001'),
)

/** Returns the fields of a transaction; each vertical has its own types and subtypes. */
export const transaction = <T extends v.GenericSchema<string>, S extends v.GenericSchema<string>>(
  transaction_type: T,
  subtype: S,
) => ({
  transaction_id: member(
    f.id,
    said(
      'Identifies the transaction. The id never changes; send a changed status under the same id.',
      'T-5001',
    ),
  ),
  customer_id,
  transaction_type,
  amount_currency: member(
    f.money,
    said(
      'The amount in `currency`, with at most 2 decimal places. It is positive for every `transaction_type`, also where money leaves, as with a withdrawal; only `adjustment`, `bonus` and `other` can have either sign. If the `amount_signs` of the account is `signed`, withdrawals, payouts and refunds are negative instead.',
      100.25,
    ),
  ),
  currency: member(f.currency, said('The original currency, as an ISO 4217 code.', 'EUR')),
  transaction_date: member(
    f.instant,
    said('When the transaction happened.', '2026-10-02T09:30:00Z'),
  ),
  status: member(
    f.text,
    said(
      'The status in your own terms, for example `pending`, `approved`, `declined` or `reversed`; their meaning is agreed during onboarding.',
      'approved',
    ),
  ),
  amount_usd: optional(
    f.figure,
    said(
      'The amount in USD, if you know it, with the sign of `amount_currency`. Lists and control totals are not converted; if you leave this out, it stays absent.',
      109.4,
    ),
  ),
  transaction_subtype: v.optional(subtype),
  note: optional(
    f.text,
    said('Free text or your own reference, without personal data.', 'order 7'),
  ),
})

/** The shared fields of trading activity: one trader, day, instrument and currency. */
export const tradingActivity = {
  date: member(
    f.day,
    said(
      'The day of this record; it can be the day of your server. The check at 06:00 UTC compares it with the UTC calendar.',
      '2026-10-02',
    ),
  ),
  customer_id,
  instrument: member(f.id, said('The symbol of the instrument on the trading platform.', 'EURUSD')),
  lots_traded: member(
    f.lots,
    said('The volume in standard lots, with at most 2 decimal places.', 1.07),
  ),
  currency: member(
    f.currency,
    said('The ISO 4217 currency code of all amounts that name no other currency.', 'USD'),
  ),
}
