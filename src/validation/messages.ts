import { CURRENCIES } from './iso-4217.ts'
import type { Issue, IssueCode } from './issue.ts'
import { suggest } from './suggest.ts'

/** An issue as a partner reads it. */
export interface FormattedIssue {
  index?: number
  key?: Record<string, string>
  pointer: string
  code: IssueCode
  message: string
  hint?: string
}

const MESSAGES: Record<IssueCode, (value: string, expected: string) => string> = {
  required: () => 'This field is required.',
  unknown_field: () => 'There is no such field.',
  type: (_, expected) => `This must be ${withArticle(expected)}.`,
  date_time: (value, expected) =>
    expected
      ? `${value} is not a time.`
      : `${value} is no time of the calendar, written as RFC 3339 with an offset or Z.`,
  date: (value) => `${value} is not a day of the calendar, written YYYY-MM-DD.`,
  length: (_, expected) =>
    `This must have ${/^\d+ to \d+$/.test(expected) ? `${expected} characters` : expected}.`,
  text: () => 'This has a NUL or a lone surrogate in it, which is no text.',
  pattern: (value, expected) => `${value} does not match ${expected}.`,
  email: () => 'This is not an e-mail address.',
  currency: (value) => `${value} is not an ISO 4217 currency code.`,
  number: (_, expected) =>
    expected ? `This is not a decimal: ${expected}.` : 'This is too large to be a number.',
  digits: () =>
    'This has more than 15 significant digits, or is beyond 10^15 or finer than 10^-12.',
  decimals: (value) => `${value} has more than 2 decimal places.`,
  minimum: (value, expected) => `${value} is less than ${expected}.`,
  enum: (value, expected) => `${value} is not one of: ${expected}.`,
  duplicate_key: () => 'An earlier record of this request has the same key.',
  unknown_customer: (value) => `No customer ${value} was sent before.`,
  unknown_affiliate: (value) => `No affiliate ${value} is configured.`,
  record_count: (_, expected) => `A request has ${expected} records.`,
  field_case: () => 'The name of this field has the wrong case.',
  no_kpi: () => 'This event has no amount: neither Value nor a KPI.',
  circle: (value) => `${value} is below this affiliate, and cannot be its parent.`,
  idempotency_key_reused: () => 'This Idempotency-Key was used for other records.',
}

const HINTS: Partial<Record<IssueCode, (issue: Issue) => string | null>> = {
  required: ({ suggestions, expected }) =>
    expected ? `Send ${expected}.` : writeItAs(suggestions),
  field_case: ({ suggestions }) => writeItAs(suggestions),
  unknown_field: ({ pointer, suggestions }) =>
    didYouMean(pointer.split('/').at(-1)!, suggestions ?? []),
  currency: ({ value }) => didYouMean(String(value).toUpperCase(), [...CURRENCIES]),
  enum: ({ value, expected }) => didYouMean(String(value), expected!.split(', ')),
  number: ({ expected }) =>
    expected ? 'No separators, no sign but -, no exponent: "-1000.00" or 1000.5.' : null,
  date_time: ({ expected }) =>
    expected
      ? `Write it as ${expected}.`
      : 'Write it as 2026-10-01T08:30:00Z, or with an offset: +02:00.',
  digits: () => 'Send at most 15 significant digits, of which 12 decimal places; an id as text.',
  decimals: () => 'Round it to 2 decimal places.',
  no_kpi: () => 'Send Value, or KPI fields such as GGR, as decimals: "100.00".',
  unknown_customer: () => 'Send the customer first; its transactions and activity can follow.',
  unknown_affiliate: () => 'GET account lists the affiliates that are configured.',
}

/** An issue in words: the only place that makes them. */
export function formatIssue({
  expected = '',
  value,
  suggestions,
  ...issue
}: Issue): FormattedIssue {
  const message = MESSAGES[issue.code](value === undefined ? 'This' : quote(value), expected)
  const hint = HINTS[issue.code]?.({
    ...issue,
    expected,
    value,
    ...(suggestions && { suggestions }),
  })
  return { ...issue, message, ...(hint && { hint }) }
}

/** Long enough for any date, code or number; what is longer is cut. */
const MAX_QUOTED = 40

function quote(value: unknown): string {
  const text = typeof value === 'string' ? value : String(value)
  const cut =
    text.length > MAX_QUOTED
      ? `${[...text.slice(0, 2 * MAX_QUOTED)].slice(0, MAX_QUOTED).join('')}…`
      : text
  return typeof value === 'string' ? JSON.stringify(cut) : cut
}

/** A question that names what was probably meant. */
function didYouMean(sent: string, names: readonly string[]): string | null {
  const near = suggest(sent, names)
  return near && `Did you mean ${near}?`
}

/** The right spelling of a name, where it is known to be meant. */
const writeItAs = (names: readonly string[] | undefined) =>
  names ? `Write it as ${names[0]}.` : null

const withArticle = (type: string) => (/^[aeiou]/i.test(type) ? `an ${type}` : `a ${type}`)
