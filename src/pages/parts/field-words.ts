import { titleOf } from './data.tsx'

// What the fields of settings mean for a manager. The API reference describes the same fields for engineers.

const BYTES_PER_GB = 1024 ** 3

/** Returns an amount of storage in words, such as `1.5 MB of 4 GB` has two. */
export function storageWords(bytes: number): string {
  const units = [
    [1024, 'KB'],
    [1024 ** 2, 'MB'],
    [BYTES_PER_GB, 'GB'],
  ] as const
  const [scale, unit] = units.findLast(([least]) => bytes >= least) ?? units[0]
  const size = bytes / scale
  return `${size.toLocaleString('en', { maximumFractionDigits: 1 })} ${unit}`
}

/** What fields mean whose names do not say it. Their labels are made from the names. */
export const HINTS: Readonly<Record<string, string>> = {
  // Accounts.
  account: 'In addresses: small letters, digits and hyphens. It never changes.',
  mode: 'Only the records of a test account can be deleted. Default: live.',
  time_zone: 'The zone of times in records that name none, such as Europe/Berlin. Default: UTC.',
  book_zone:
    'The zone that decides to which day, and so to which month, a signup or a transaction belongs. It never changes. Default: UTC.',
  amount_signs:
    'How the firm writes the amounts of withdrawals, payouts and refunds. It can change only while no period is closed. Default: positive numbers.',
  unknown_customer:
    'What happens to a record that arrives before its customer: it is refused, or waits for them. Default: casinos wait, other firms refuse.',
  unknown_affiliate:
    'What happens to a customer whose affiliate is not set up: they are stored and the sender is warned, or they are refused. Default: they are stored.',
  approvals:
    'How many different persons approve a statement or decide a case. Everyone who signs in with the same key counts as one person. Default: 1.',
  payee_hold_hours:
    'For how many hours nothing is paid to new or changed bank details. An approver sets it. Default: 72.',
  retain_years:
    'For how many years bank details are kept after the last payment to them. Default: 10.',
  series: 'What the numbers of invoices begin with, such as SB.',
  vat_id: 'That of the firm.',
  rate: 'The VAT of domestic affiliates, in percent.',
  open: 'Whether anybody can apply. It needs terms.',
  questions: 'What applicants are asked besides: at most 5, one a line.',
  terms_version: 'The name of the terms. Changed terms have a new one.',
  terms_url: 'The https:// address of the page that has them. Or write them below.',
  terms_text: 'What applicants accept, if no page has it.',
  sample_seen: 'Whether your adviser has seen a sample of an invoice.',
  version: 'The name of the agreement. A new text has a new one.',
  exports:
    'Parquet files of records, statements and bookings for a warehouse, written each morning. Personal data is what names a customer or an affiliate; an approver decides that it is included. None deletes the files. Default: none.',
  landing_pages:
    'The pages to which links of affiliates may lead, one address on each line, such as https://acme.example/start, and all pages below them. Empty: affiliates cannot make links.',
  jurisdiction:
    'Where the ids of customers are kept whose personal data was erased. It never changes.',
  // Links and webhooks.
  affiliate_id: 'Who is paid for customers who follow the link. It never changes.',
  landing_page: 'The page that the link leads to.',
  pass_query:
    'Whether the landing page also gets the parameters of the address that a visitor followed.',
  url: 'Where the notifications are sent: the https address that the engineers of the receiver name.',
  // Definitions of events.
  kpis: 'The names of further amounts as the brand writes them, one in a line. “Value” always is one.',
  granularity:
    'What a record is: a single event, or the total of a day, which replaces the former one when it is sent again.',
  eventid:
    'Whether the id that the brand sends identifies an event. Default: used if there is one.',
  currency: 'The currency of events that name none, such as EUR.',
  outflow: 'Whether money leaves with the event, as by a withdrawal. Default: no.',
  status_member:
    'The name of the field with the status of an event, as the brand writes it. Without it, all events are approved.',
  // What affiliates see, and what is known of them.
  customer_ids:
    'A pseudonym stays the same for the affiliate and tells nothing about the customer. Names and e-mail addresses are never shown.',
  amounts: 'Whether affiliates see what customers paid and traded, or what they earn only.',
  sub_affiliates: 'What an affiliate sees of those whom they referred.',
  drafts: 'Whether affiliates see statements before the approval.',
  held: 'Whether affiliates see that a payout is under review. They never see why.',
  language: 'The language of the portal. Default: English.',
  note: 'For the team only: the affiliate never sees it.',
}

/** The choices of fields whose names do not say what they mean. */
const CHOICES: Readonly<Record<string, string>> = {
  'prop-trading': 'Prop trading',
  igaming: 'Casino and betting',
  magnitude: 'Positive numbers',
  signed: 'Negative numbers',
  reject: 'Refuse',
  hold: 'Keep until the customer arrives',
  warn: 'Store, and tell the sender',
  off: 'None',
  invoice: 'One for each approved statement',
  event: 'A single event',
  day: 'The total of a day',
  required: 'Must be sent',
  used: 'Used if there is one',
  plain: 'Your id of the customer',
  '*': 'All events',
  true: 'Yes',
  false: 'No',
  eu: 'European Union',
  us: 'United States',
  fedramp: 'United States (FedRAMP)',
  en: 'English',
  de: 'German',
  es: 'Spanish',
  fr: 'French',
  pt: 'Portuguese',
}

/** Returns a choice of a field in words. */
export const choiceWords = (choice: string): string =>
  CHOICES[choice] ?? titleOf(choice.replace('.', ' '))

/** The choice in approvals what happens to records that wait for a rate or a currency. */
export const HOLDS = {
  name: 'leave_out_holds',
  label: 'Records that wait for a rate or a currency',
  options: [
    ['', 'Refuse statements that have some'],
    ['yes', 'Approve without them; an adjustment pays them later'],
  ] as const,
}

/** The choice in uploads of rates what happens to a rate that is there with another value. */
export const CORRECT = {
  name: 'correct',
  label: 'A rate that is already there with another value',
  options: [
    ['', 'Refuse it and say which'],
    ['true', 'Replace it; the former rate is kept beside it'],
  ] as const,
}
