import * as v from 'valibot'
import { affiliateViewFields } from '../affiliates/view-fields.ts'
import { landingPages } from '../attribution/operations/link-fields.ts'
import { approvalsRequired } from '../commission/shapes/book-fields.ts'
import { DEFAULT_STORAGE_QUOTA, MAX_DATABASE_BYTES } from '../ingest/db/storage.ts'
import { journalAccountFields } from '../payouts/journal-accounts.ts'
import { vatId } from '../payouts/number-fields.ts'
import { signUpFields } from '../people/sign-up-fields.ts'
import { AMOUNT_SIGNS } from '../platform/amount-signs.ts'
import * as f from '../platform/validation/fields.ts'
import { member, nullable, optional, said } from '../platform/validation/fields.ts'
import { objectOf } from '../platform/validation/shapes.ts'

/**
 * Returns whether the runtime knows a time zone. Offsets such as `+02:00` are not accepted, and neither is
 * `Factory`, which stands for no zone.
 */
const isZone = (name: string) => {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name })
    return !/^(?:[+-]|factory$)/i.test(name)
  } catch {
    return false
  }
}

/** A time zone of the IANA database. A link such as `Europe/Kyiv` stays; else the spelling is the canonical one. */
const zone = v.pipe(
  f.text,
  v.check(isZone, 'pattern a name of the IANA time zone database'),
  v.transform((name) => {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions()
    return timeZone.toLowerCase() === name.toLowerCase() ? timeZone : name
  }),
)

// The fields of request bodies in the administration API.

/** A number of bytes, up to the size limit of a database. */
const storageQuota = v.pipe(
  f.number,
  v.minValue(0, 'minimum 0'),
  v.check(
    (bytes) => bytes < 0 || (Number.isInteger(bytes) && bytes <= MAX_DATABASE_BYTES),
    `pattern a whole number of bytes, at most ${MAX_DATABASE_BYTES} (10 GB)`,
  ),
)

/** A whole number in a range. */
const wholeNumber = (least: number, most: number) =>
  v.pipe(
    f.number,
    v.check(
      (n) => Number.isInteger(n) && n >= least && n <= most,
      `pattern a whole number from ${least} to ${most}`,
    ),
  )

/** The name of a sender of e-mails: nothing that a header field or a mail program reads otherwise. */
const senderName = v.pipe(
  f.text,
  v.check(
    (name) => /^[\p{L}\p{N} ]{1,60}$/u.test(name),
    'pattern at most 60 letters, digits and spaces',
  ),
)

const affiliateView = objectOf(affiliateViewFields)

const percentage = v.pipe(
  f.number,
  v.check(
    (n) => n >= 0 && n < 100 && Number.isInteger(Math.round(n * 1e6) / 1e4),
    'pattern a number from 0 to 99.99 with at most two decimals',
  ),
)

const agreementFields = {
  version: member(f.slug, said('Names the text: a new text has a new version.', '2026-11')),
  text: member(
    f.remarkOf(20_000),
    said(
      'What affiliates agree to: that you write their invoices, that they write none themselves, and that they tell you when their registration for VAT ends.',
      'You write our invoices. We write none ourselves, and tell you if we are no longer registered for VAT.',
    ),
  ),
}

const invoicingFields = {
  series: optional(
    v.pipe(f.text, v.regex(/^[A-Z\d]{1,10}$/, 'pattern 1 to 10 capital letters and digits')),
    said('What the numbers of invoices begin with.', 'SB'),
  ),
  vat_id: optional(vatId, said('The VAT number of the account.', 'IE6388047V')),
  rate: optional(percentage, said('The rate of VAT of domestic affiliates, in percent.', 19)),
  agreement: optional(objectOf(agreementFields), said('What affiliates agree to in the portal.')),
  sample_seen: optional(
    v.boolean(),
    said('Whether the adviser of the account has seen a sample of an invoice.'),
  ),
}

const settings = {
  name: optional(f.label, said('The display name of the account.', 'Acme Markets')),
  time_zone: optional(
    zone,
    said('The IANA time zone of times without an offset. Defaults to `UTC`.', 'Europe/Berlin'),
  ),
  amount_signs: optional(
    f.oneOf(...AMOUNT_SIGNS),
    said(
      'How the account writes the amounts of outflows, which are withdrawals, payouts and refunds, and the events whose definition says `outflow`. `magnitude`: positive, as all amounts. `signed`: negative. Commissions and reports use the magnitude under both; control totals sum what was sent. Defaults to `magnitude`. It can change only while no period is closed.',
    ),
  ),
  unknown_customer: optional(
    f.oneOf('reject', 'hold'),
    said(
      'What happens to a record whose customer is unknown: `reject` refuses it, `hold` keeps it until the customer arrives. Defaults to `reject` for partners and `hold` for brands.',
    ),
  ),
  unknown_affiliate: optional(
    f.oneOf('warn', 'reject'),
    said(
      'What happens to a customer whose affiliate is not configured: `warn` stores it with a warning, `reject` refuses it. Defaults to `warn`.',
    ),
  ),
  storage_quota: optional(
    storageQuota,
    said(
      `The bytes that the account may store. At the quota, deliveries that would store records are refused. Defaults to ${DEFAULT_STORAGE_QUOTA} (4 GiB).`,
      DEFAULT_STORAGE_QUOTA,
    ),
  ),
  approvals: v.optional(approvalsRequired),
  payee_hold_hours: optional(
    wholeNumber(0, 720),
    said(
      'For how many hours nothing is paid to an affiliate, or from an account, after its bank details have changed. Defaults to 72. An approver sets it, and two of them lower it.',
      72,
    ),
  ),
  retain_years: optional(
    wholeNumber(1, 30),
    said(
      'For how many years after the last payment to them bank details are kept that were used. Defaults to 10. An approver sets it.',
      10,
    ),
  ),
  self_billing: optional(
    f.oneOf('off', 'invoice'),
    said(
      'Whether the account writes the invoices of its affiliates: `invoice` writes one with the approval of each statement that pays something. Defaults to `off`. An approver sets it.',
    ),
  ),
  invoicing: optional(
    objectOf(invoicingFields),
    said(
      'What invoices need. Until all of it is set, no affiliate can agree, and statements wait. A member that is left out keeps its value. An approver sets it.',
      { rate: 19 },
    ),
  ),
  exports: optional(
    f.oneOf('off', 'without_personal_data', 'with_personal_data'),
    said(
      'Whether Parquet files of the records and books are written each morning, for a warehouse. `with_personal_data` includes what names customers and affiliates. `off` deletes the files. Defaults to `off`.',
      'without_personal_data',
    ),
  ),
  affiliate_view: optional(
    affiliateView,
    said(
      'What affiliates who call the API or sign in to the portal may see. A member that is left out keeps its value. Personal data of customers is never shown.',
      { customer_ids: 'pseudonym' },
    ),
  ),
  landing_pages: optional(
    landingPages,
    said(
      'The pages to which links that affiliates make may lead: each of these URLs, and all pages below it. Without one, affiliates make no links. Links of the team may lead anywhere.',
      ['https://acme.example/start'],
    ),
  ),
  mail_name: v.optional(
    nullable(
      senderName,
      said(
        'The name under which notices are sent by e-mail: letters, digits and spaces. Null: the name of the account.',
        'Acme Partners',
      ),
    ),
  ),
  reply_to: v.optional(
    nullable(
      f.email,
      said('Where answers to these e-mails go. Null: nowhere.', 'partners@acme.example'),
    ),
  ),
  sign_up: optional(
    objectOf(signUpFields),
    said(
      'Whether and how affiliates apply by themselves, on a page of the portal. A member that is left out keeps its value.',
      { open: true },
    ),
  ),
  journal_accounts: optional(
    objectOf(journalAccountFields),
    said(
      'The accounts of the bookkeeping between which the journal books. A member that is left out keeps its value.',
      { payable: '3300', earned: '6770', bank: '1200' },
    ),
  ),
}

const { agreement: _, ...numbers } = invoicingFields

/** What a form asks for to write invoices: the members of the agreement stand beside the others. */
export const invoicingForm = {
  self_billing: settings.self_billing,
  ...numbers,
  ...agreementFields,
}

/** The jurisdictions within which Cloudflare can keep data. */
export const JURISDICTIONS = ['eu', 'us', 'fedramp'] as const

/** The fields of a new account, without the binding of its database. */
export const newAccount = {
  account: member(f.slug, said('Identifies the account. The id never changes.', 'acme')),
  vertical: member(
    f.oneOf('prop-trading', 'forex', 'igaming'),
    said('The vertical of the account, which determines the API that it calls.'),
  ),
  mode: optional(
    f.oneOf('live', 'test'),
    said(
      'Whether the account is live or a test. Only the data of a test account can be reset. Defaults to `live`.',
    ),
  ),
  ...settings,
  book_zone: optional(
    zone,
    said(
      'Partners only: the IANA time zone by which `signup_date` and `transaction_date` belong to days, and so to control totals and periods. Defaults to `UTC`. It never changes.',
      'America/New_York',
    ),
  ),
  name: settings.name.wrapped,
  jurisdiction: v.optional(
    nullable(
      f.oneOf(...JURISDICTIONS),
      said(
        'The jurisdiction that keeps the ids of customers whose personal data was erased. It never changes. Choose a database of the same jurisdiction with `binding`.',
        'eu',
      ),
    ),
  ),
}

/** The fields of an account that can change. */
export const accountChange = {
  ...settings,
  disabled: optional(
    v.boolean(),
    said('Whether the account is disabled. The credentials of a disabled account are refused.'),
  ),
}
