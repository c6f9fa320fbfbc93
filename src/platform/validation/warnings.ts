import { WITHDRAWN } from './iso-4217.ts'
import { quote, quoteAll } from './quote.ts'

/** A warning about a record that is stored. */
export interface Warning {
  code: string
  pointer: string
  message: string
  /** Of `affiliation_changed`: the first day of the new affiliate. */
  from?: string
}

/** The messages. `quoted` is the value as sent, or several, `more` a second value, all in backticks. */
export const MESSAGES = {
  withdrawn_currency: (quoted, more) => `${quoted} was withdrawn from ISO 4217 in ${more}.`,
  unattributed: () => 'The customer has no `tracking_data`, so no affiliate is paid for them.',
  altered: () =>
    '`tracking_data` was changed or cut, so it identifies no link of this account. Return it unchanged.',
  field_case: (quoted, more) => `${quoted} is stored as an additional field. Did you mean ${more}?`,
  similar_field: (quoted, more) =>
    `${quoted} is stored as an additional field. Did you mean ${more}?`,
  foreign: () =>
    '`tracking_data` was issued for another account. It identifies no link of this account.',
  unrecognised: () =>
    '`tracking_data` does not have the format of this service. It identifies no link of this account.',
  conflict: () =>
    'The link in `tracking_data` belongs to another affiliate. The affiliate in `affiliate_id` is paid.',
  erased: () => 'The personal data of this customer was erased and is not stored again.',
  not_a_number: (quoted) =>
    `${quoted} is not a decimal, so it is stored as a detail. Send decimals without separators.`,
  not_deduplicated: () =>
    'Nothing identifies this event, so it counts again if it is resent. Send `eventid`, the header `Idempotency-Key` or, for a daily total, its day as `createtime`.',
  no_regtime: () =>
    'The customer has no `regtime`, so the signup is the time at which the customer was first heard of.',
  no_currency: () =>
    '`Currency` is missing and no event definition names one, so the event earns nothing.',
  replaced_details: (quoted) =>
    `This daily total has replaced one with other details: ${quoted}. Totals of one day that are to count beside each other need another \`product\` or an \`eventid\` each.`,
  no_createtime: () =>
    '`createtime` is missing, so the event counts on the day it was first received.',
  skipped_time: (quoted, more) =>
    `Daylight saving time skips ${quoted} in the account's time zone. It was read as ${more}.`,
  ambiguous_time: (quoted, more) =>
    `${quoted} occurs twice in the account's time zone because of daylight saving time. The first occurrence was used: ${more}.`,
  unmapped_product: (quoted) =>
    `${quoted} is not mapped to a product line (\`casino\`, \`sports\`, \`poker\`, \`bingo\`). It is counted as a separate product line.`,
  repeated_key: () =>
    'An earlier record of this request has the same key. They are stored as one. Different events need an `eventid` each.',
  changed_event: () =>
    'An event with this `eventid` and another `eventname` or `customerid` was stored. This record has replaced it. Give each event an `eventid` of its own.',
  affiliation_changed: (from) =>
    `The customer has another affiliate now, who counts from ${from} on.`,
  negative_amount: (quoted, more) =>
    `${quoted} does not have the sign with which this account sends amounts of ${more}.`,
  implausible_time: (quoted) =>
    `${quoted} is before 2000-01-01, or more than 36 hours ahead of the receipt of the record.`,
  unmapped_status: (quoted) =>
    `Status ${quoted} has no meaning in the status map of the account, so the record earns nothing.`,
  unknown_event: (quoted, more) => `Event ${quoted} has no definition. Did you mean ${more}?`,
  whitespace: (quoted) =>
    `${quoted} begins or ends with white space. It is stored as sent, and differs from the same text without it.`,
  country: (quoted, more) => `${quoted} is not an ISO 3166-1 alpha-2 code. It is read as ${more}.`,
  amount_usd: () =>
    '`amount_usd` cannot be the amount in USD: it is 0, has another sign, or differs although `currency` is `USD`.',
} satisfies Record<string, (quoted: string, more: string) => string>

/** A code as responses have it, but for `unknown_affiliate`, whose message `formatIssue` writes. */
type WarningCode = keyof typeof MESSAGES

/** The values that a message quotes at most. */
const MAX_QUOTED = 10

/**
 * Returns a warning with its message. `value` and `more` are quoted in it, so neither may be
 * personal.
 */
export function warning(
  code: WarningCode,
  pointer: string,
  value: unknown = '',
  more = '',
): Warning {
  const format: (quoted: string, more: string) => string = MESSAGES[code]
  const quoted = Array.isArray(value) ? quoteAll(value.slice(0, MAX_QUOTED)) : quote(value)
  return { code, pointer, message: format(quoted, quote(more)) }
}

/** Returns a warning for a withdrawn currency, which is stored because the event may be older. */
export function currencyWarnings(code: unknown, pointer: string): Warning[] {
  const month = typeof code === 'string' ? WITHDRAWN.get(code) : undefined
  return month === undefined ? [] : [warning('withdrawn_currency', pointer, code, month)]
}
