import { currencyHint } from './fields.ts'
import type { Issue, IssueCode } from './issue.ts'
import { lastMember } from './pointer.ts'
import { quote, quoteAll } from './quote.ts'
import { suggest } from './suggest.ts'

/** A record error as the caller reads it. */
export interface FormattedIssue {
  index?: number
  key?: Record<string, string>
  pointer: string
  code: IssueCode
  message: string
  hint?: string
}

/** The parts of an issue that its text is made of. */
export interface Parts {
  /** The name of the field that the issue points to. */
  field: string
  /** The value as sent, in backticks; "The value" if the message may not include it. */
  quoted: string
  value: unknown
  expected: string
  received: string | undefined
  suggestions: readonly string[]
}

const MESSAGES: Record<IssueCode, (parts: Parts) => string> = {
  required: ({ field }) => `${quote(field)} is required.`,
  unknown_field: ({ field, expected }) =>
    `${quote(field)} is not a field of ${expected || 'this object'}.`,
  type: ({ expected, received }) =>
    `Expected ${withArticle(expected)}${received ? `, not ${withArticle(received)}` : ''}.`,
  date_time: ({ quoted, expected }) =>
    expected
      ? `${quoted} is not a valid time.`
      : `${quoted} is not a valid RFC 3339 date-time with an offset or \`Z\`.`,
  date: ({ quoted, expected }) =>
    `${quoted} is ${expected || 'not a valid date in the form `YYYY-MM-DD`'}.`,
  length: ({ expected, received }) => {
    const limit = /^\d+ to \d+$/.test(expected)
      ? `Text must have ${expected} characters`
      : `There can be ${expected}`
    return received ? `${limit}, not ${received}.` : `${limit}.`
  },
  text: () => 'Text must not contain NUL characters or unpaired surrogates.',
  pattern: ({ quoted, expected }) => `${quoted} is not valid. Expected ${expected}.`,
  email: () => 'The value is not a valid e-mail address.',
  currency: ({ quoted }) => `${quoted} is not an ISO 4217 currency code.`,
  number: ({ quoted, expected }) =>
    expected ? `${quoted} is not a decimal: expected ${expected}.` : 'The number is too large.',
  digits: ({ quoted, value, expected }) =>
    expected.endsWith('places')
      ? `${Number.isNaN(value) ? 'The number' : quoted} must be within ±10^15 and have at most 15 significant digits and ${expected}.`
      : `The number has more than ${expected || 15} significant digits.`,
  decimals: ({ quoted, expected }) => `${quoted} has more than ${expected || 2} decimal places.`,
  minimum: ({ quoted, expected }) => `${quoted} is less than the minimum, ${expected}.`,
  maximum: ({ quoted, expected }) => `${quoted} is more than the maximum, ${expected}.`,
  enum: ({ quoted, expected }) => `${quoted} is not one of ${quoteAll(expected.split(', '))}.`,
  duplicate_key: () => 'An earlier record of this request has the same key.',
  unknown_customer: ({ quoted }) => `Customer ${quoted} has not been received.`,
  unknown_affiliate: ({ quoted }) => `Affiliate ${quoted} is not configured.`,
  record_count: ({ expected, received }) =>
    `A request must have ${expected} records, not ${received}.`,
  field_case: ({ field }) => `${quote(field)} has the wrong case.`,
  no_kpi: () => 'The event has no amount: neither `Value` nor a KPI.',
  circle: ({ quoted, expected }) =>
    expected
      ? `${quoted} refers back to ${expected}.`
      : `${quoted} is this affiliate or one of its sub-affiliates, and cannot be its parent.`,
  choice: ({ expected }) => `Expected exactly one of ${quoteAll(expected.split(', '))}.`,
  duplicate: ({ quoted, expected }) => `${quoted} is already ${expected}.`,
  unknown_reference: ({ quoted, expected }) => `${quoted} is not ${expected}.`,
  not_applicable: ({ field, expected }) => `${quote(field)} cannot be used here: ${expected}.`,
  no_latin: ({ expected }) => `Banks cannot write ${quoteAll(expected.split(' '))}.`,
  order: ({ quoted, expected }) => `${quoted} is not greater than the step before it, ${expected}.`,
  fixed_by_plan: ({ quoted, expected }) =>
    `${quoted} differs from the other versions of this plan, which have ${quote(expected)}.`,
  rate_differs: ({ quoted, expected }) => `${quoted} differs from ${expected}, which is stored.`,
  idempotency_key_reused: () =>
    'This `Idempotency-Key` was used for different records, or an event definition has changed since.',
}

/** What stands in a message for a value that it must not quote. */
const UNQUOTED = 'The value'

const HINTS: Partial<Record<IssueCode, (parts: Parts) => string | null>> = {
  required: ({ suggestions, expected }) =>
    expected ? `Send ${expected}.` : useSpelling(suggestions),
  field_case: ({ suggestions }) => useSpelling(suggestions),
  unknown_field: ({ field, suggestions }) => didYouMean(field, suggestions),
  currency: ({ value }) => currencyHint(String(value)),
  type: ({ field, expected, received }) => {
    if (received === 'number' && expected === 'string' && /id$/i.test(field))
      return 'Send ids in quotes, as text.'
    return received === 'string' && expected === 'number'
      ? 'Send a number such as `1000.25`: without quotes, and with a point as its only separator.'
      : null
  },
  enum: ({ value, expected }) => didYouMean(String(value), expected.split(', ')),
  number: ({ expected }) =>
    expected
      ? 'Send it without separators, plus sign or exponent, such as `"-1000.00"` or `1000.5`.'
      : null,
  date_time: ({ expected }) =>
    expected
      ? `Send a time such as ${expected}.`
      : 'Send a date-time such as `2026-10-01T08:30:00Z` or `2026-10-01T10:30:00+02:00`.',
  digits: () => 'Round the number. Send a long identifier as a string.',
  decimals: ({ expected }) => `Round the number to ${expected || 2} decimal places.`,
  duplicate_key: () => 'Send each key once per request.',
  no_kpi: () => 'Send `Value`, or KPI fields such as `GGR`, as decimals: `"100.00"`.',
  unknown_customer: ({ expected }) =>
    expected
      ? `An account can have ${expected}. Send the customers of \`GET held\` first, then resend this record.`
      : 'Send the customer first, then resend this record.',
  choice: ({ received }) => (received ? 'Leave out all but one of them.' : 'Add one of them.'),
  unknown_reference: ({ value, suggestions }) =>
    didYouMean(String(value), suggestions) ?? listNames(suggestions),
  not_applicable: ({ field }) => `Leave out ${quote(field)}.`,
  no_latin: () => 'Send it in Latin letters, as the bank writes it.',
  order: () => 'Send the steps in ascending order, each `from` once.',
  fixed_by_plan: ({ expected }) =>
    `Send ${quote(expected)}, or put the version under the name of a new plan.`,
  rate_differs: () => 'Send `?correct=true` to replace the stored rate.',
  unknown_affiliate: () => 'Use a configured affiliate.',
}

/** Returns an issue with its message and hint. */
export const formatIssue = (issue: Issue): FormattedIssue => format(issue, issue.value)

/**
 * Returns an issue as `formatIssue` does, but its message does not quote the value: "The value is not
 * an ISO 4217 currency code." The hint stays, since it names only what is valid.
 */
export const formatUnquoted = (issue: Issue): FormattedIssue => format(issue, undefined)

function format(issue: Issue, quotable: unknown): FormattedIssue {
  const { expected = '', value, received, suggestions = [], instruction, message, ...rest } = issue
  const { isInAdditionalField: _, ...place } = rest
  const quoted = quotable === undefined ? UNQUOTED : quote(quotable)
  const field = lastMember(issue.pointer)
  const parts = { field, quoted, value, expected, received, suggestions }
  const hint = instruction ?? HINTS[issue.code]?.(parts)
  const text = message ?? MESSAGES[issue.code](parts)
  return { ...place, message: text, ...(hint && { hint }) }
}

/** Returns a question that names the closest valid name, or null. */
function didYouMean(name: string, validNames: readonly string[]): string | null {
  const closest = suggest(name, validNames)
  return closest && `Did you mean ${quote(closest)}?`
}

/** The number of valid names that a hint lists. */
const MAX_NAMES = 20

/** Returns the instruction to use one of the valid names, or null if there is none. */
export function listNames(names: readonly string[]): string | null {
  const [first, ...others] = names
  if (first === undefined) return null
  if (others.length === 0) return `Use ${quote(first)}.`
  const more = names.length - MAX_NAMES
  const list = quoteAll(names.slice(0, MAX_NAMES))
  return `Use one of ${list}${more > 0 ? ` and ${more} more` : ''}.`
}

/** Returns the instruction to use the correct spelling of a name, if it is known. */
const useSpelling = ([name]: readonly string[]) =>
  name === undefined ? null : `Spell it ${quote(name)}.`

const withArticle = (type: string) => {
  if (type === 'null') return type
  return /^[aeiou]/i.test(type) ? `an ${type}` : `a ${type}`
}
