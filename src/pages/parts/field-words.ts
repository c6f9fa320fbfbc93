import type { EventType } from '../../webhooks/events.ts'

// What the fields of settings are called in forms, and what they mean for a manager. The API reference
// describes the same fields for engineers.

/** A field of a form in words. */
export interface FieldWords {
  readonly label: string
  /** What it means; may be empty if the label says it. */
  readonly hint: string
  /** Its choices in words, by their values. Others are shown as they are. */
  readonly choices?: Readonly<Record<string, string>>
  /** `area` if it has several lines. */
  readonly type?: 'area'
}

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

/** The words of the fields of a form, by their names. */
export type WordsOf<Names extends string> = Readonly<Record<Names, FieldWords>>

/** The verticals in words. */
export const VERTICALS: Readonly<Record<string, string>> = {
  forex: 'Forex',
  'prop-trading': 'Prop trading',
  igaming: 'Casino and betting',
}

/** The modes of an account in words. */
export const MODES: Readonly<Record<string, string>> = { live: 'Live', test: 'Test' }

/** The regions of credentials in words. */
const REGIONS: Readonly<Record<string, string>> = {
  wnam: 'Western North America',
  enam: 'Eastern North America',
  sam: 'South America',
  weur: 'Western Europe',
  eeur: 'Eastern Europe',
  apac: 'Asia-Pacific',
  'apac-ne': 'Northeast Asia',
  'apac-se': 'Southeast Asia',
  oc: 'Oceania',
  afr: 'Africa',
  me: 'Middle East',
}

/** The fields of an account. */
export const ACCOUNT_WORDS = {
  account: {
    label: 'Account',
    hint: 'A short name for the account in addresses: small letters, digits and hyphens. It never changes.',
  },
  name: { label: 'Name', hint: 'The name of the account on its pages and statements.' },
  vertical: { label: 'Vertical', hint: 'What the firm does.', choices: VERTICALS },
  mode: {
    label: 'Mode',
    hint: 'Only the records of a test account can be deleted. Default: live.',
    choices: MODES,
  },
  time_zone: {
    label: 'Time zone',
    hint: 'The zone of times in records that name none, such as Europe/Berlin. Default: UTC.',
  },
  book_zone: {
    label: 'Time zone of the books',
    hint: 'The zone that decides to which day, and so to which month, a signup or a transaction belongs. It never changes. Default: UTC.',
  },
  amount_signs: {
    label: 'Amounts of withdrawals',
    hint: 'How the firm writes the amounts of withdrawals, payouts and refunds. It can change only while no period is closed. Default: as positive numbers.',
    choices: { magnitude: 'Positive numbers', signed: 'Negative numbers' },
  },
  unknown_customer: {
    label: 'Records of unknown customers',
    hint: 'What happens to a record that arrives before its customer. Default: casinos wait for the customer, other firms refuse the record.',
    choices: { reject: 'Refuse them', hold: 'Keep them until the customer arrives' },
  },
  unknown_affiliate: {
    label: 'Customers of unknown affiliates',
    hint: 'What happens to a customer whose affiliate is not set up. Default: store the customer.',
    choices: { warn: 'Store them, and tell the sender', reject: 'Refuse them' },
  },
  approvals: {
    label: 'Persons who must agree',
    hint: 'How many different persons approve a statement or decide a case. Everyone who signs in with the same key counts as one person. Default: one.',
    choices: { 1: 'One', 2: 'Two' },
  },
  exports: {
    label: 'Files for a warehouse',
    hint: 'Parquet files of records, statements and bookings, written each morning. Personal data is what names a customer or an affiliate; an approver decides that it is included. Default: none. None deletes the files.',
    choices: {
      off: 'None',
      without_personal_data: 'Without personal data',
      with_personal_data: 'With personal data',
    },
  },
  archive_after: {
    label: 'Months until records are archived',
    hint: 'Trading activity and daily events of older months, which are approved and exported, may leave the database for files, which cost less. From 13 to 120. Default: 13. Empty in these settings: they stay.',
  },
  landing_pages: {
    label: 'Pages to which links of affiliates may lead',
    hint: 'One address on each line, such as https://acme.example/start. A link may lead to each of these pages, and to all pages below it. Empty: affiliates cannot make links. Your own links may lead anywhere.',
  },
  region: {
    label: 'Region of the credentials',
    hint: 'Where credentials are checked: choose the region of the servers that send the records. It applies to new credentials. Empty: near the caller.',
    choices: REGIONS,
  },
  jurisdiction: {
    label: 'Jurisdiction',
    hint: 'Where the ids of customers are kept whose personal data was erased. It never changes.',
    choices: { eu: 'European Union', us: 'United States', fedramp: 'United States (FedRAMP)' },
  },
} as const satisfies WordsOf<string>

const JURISDICTIONS: Readonly<Record<string, string>> = ACCOUNT_WORDS.jurisdiction.choices

/** Returns the words of a jurisdiction. */
export const jurisdictionWords = (name: string): string => JURISDICTIONS[name] ?? name

/** The fields of a link. */
export const LINK_WORDS = {
  affiliate_id: {
    label: 'Affiliate',
    hint: 'Who is paid for customers who follow the link. The affiliate must be set up, and never changes.',
  },
  landing_page: { label: 'Landing page', hint: 'The page that the link leads to.' },
  name: { label: 'Name', hint: 'What the team calls the link.' },
  disabled: {
    label: 'Disabled',
    hint: 'Whether the link is disabled. Its visitors then see a page that says so.',
  },
} as const satisfies WordsOf<string>

/** What webhooks report, with the names by which engineers know it. */
const EVENTS: Readonly<Record<EventType | '*', string>> = {
  'delivery.refused': 'Records were refused (delivery.refused)',
  'feed.late': 'Activity is late (feed.late)',
  'statement.ready': 'A statement is computed (statement.ready)',
  'statement.approved': 'A statement is approved (statement.approved)',
  'statement.paid': 'A statement is paid (statement.paid)',
  'statement.returned': 'A payment came back (statement.returned)',
  'adjustment.created': 'A closed period was corrected (adjustment.created)',
  'case.opened': 'The fraud review opened a case (case.opened)',
  'question.asked': 'An affiliate asked a question (question.asked)',
  'case.decided': 'A case of the fraud review was decided (case.decided)',
  '*': 'All, also those of later versions',
}

/** The fields of a webhook. */
export const WEBHOOK_WORDS = {
  url: {
    label: 'URL',
    hint: 'Where the notifications are sent: the https address that the engineers of the receiver name.',
  },
  events: {
    label: 'Events',
    hint: 'What the webhook reports.',
    choices: EVENTS,
  },
  description: { label: 'Description', hint: 'What the webhook is for.' },
} as const satisfies WordsOf<string>

/** The fields of the definition of an event. */
export const DEFINITION_WORDS = {
  kpis: {
    label: 'KPIs',
    hint: 'The names of further amounts as the brand writes them, one in a line. “Value” always is one.',
  },
  granularity: {
    label: 'What a record is',
    hint: 'When the total of a day is sent again, it replaces the former one.',
    choices: { event: 'A single event', day: 'The total of a day' },
  },
  eventid: {
    label: 'Event id',
    hint: 'Whether the id that the brand sends identifies an event. Default: if there is one.',
    choices: { required: 'Must be sent', used: 'Used if there is one', ignored: 'Ignored' },
  },
  currency: { label: 'Currency', hint: 'The currency of events that name none, such as EUR.' },
  outflow: {
    label: 'Money leaves',
    hint: 'Whether money leaves with the event, as by a withdrawal. Default: no.',
  },
  status_member: {
    label: 'Field of the status',
    hint: 'The name of the field with the status of an event, as the brand writes it. Without it, all events are approved.',
  },
} as const satisfies WordsOf<string>

/** The words of what affiliates see. */
export const VIEW_WORDS = {
  customer_ids: {
    label: 'IDs of customers',
    hint: 'A pseudonym stays the same for the affiliate and tells nothing about the customer. Names and e-mail addresses are never shown.',
    choices: { pseudonym: 'A pseudonym', plain: 'Your ID of the customer', none: 'Not at all' },
  },
  amounts: {
    label: 'What customers paid and traded',
    hint: 'If not, affiliates see what they earn only.',
    choices: { true: 'Shown', false: 'Hidden' },
  },
  countries: {
    label: 'Countries of customers',
    hint: '',
    choices: { true: 'Shown', false: 'Hidden' },
  },
  sub_affiliates: {
    label: 'Affiliates below',
    hint: 'What an affiliate sees of those whom they referred.',
    choices: { totals: 'Totals', none: 'Nothing' },
  },
  drafts: {
    label: 'Statements before the approval',
    hint: '',
    choices: { true: 'Shown', false: 'Hidden' },
  },
  held: {
    label: 'Payouts under review',
    hint: 'Affiliates never see why a payout is under review.',
    choices: { category: 'Say that it is under review', none: 'Say nothing' },
  },
} satisfies Readonly<Record<string, FieldWords>>

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
