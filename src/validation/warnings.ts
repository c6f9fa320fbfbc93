import { WITHDRAWN } from './iso-4217.ts'
import { quote } from './quote.ts'

/** A warning about a record that is stored. */
export interface Warning {
  code: string
  pointer: string
  message: string
  /** Of `affiliation_changed`: the first day of the new affiliate. */
  from?: string
}

/** The messages. `quoted` is the value as sent, `more` a second value, both in backticks. */
const MESSAGES = {
  withdrawn_currency: (quoted, more) => `${quoted} was withdrawn from ISO 4217 in ${more}.`,
  unattributed: () => 'The customer has no `tracking_data`, so no affiliate is paid for them.',
  altered: () =>
    '`tracking_data` was changed or cut, so it identifies no link of this account. Return it unchanged.',
  field_case: (quoted, more) => `${quoted} is stored as an additional field. Did you mean ${more}?`,
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
  no_createtime: () =>
    '`createtime` is missing, so the event counts on the day it was first received.',
  skipped_time: (quoted, more) =>
    `Daylight saving time skips ${quoted} in the account's time zone. It was read as ${more}.`,
  ambiguous_time: (quoted, more) =>
    `${quoted} occurs twice in the account's time zone because of daylight saving time. The first occurrence was used: ${more}.`,
  unmapped_product: (quoted) =>
    `${quoted} is not mapped to a product line (\`casino\`, \`sports\`, \`poker\`, \`bingo\`), so it is counted as a separate product line.`,
  product_as_detail: (quoted) =>
    `${quoted} is stored as a detail because no event definition names this field. Send \`product\`, in lower case.`,
  repeated_key: () =>
    'An earlier record of this request has the same key. These records were merged in their order and stored as one.',
  repeated_activity: () =>
    'An earlier record of this request has the same key. Only the last of these records is stored.',
  repeated_eventid: () =>
    'Records of this request with this `eventid` are different events: they differ in `eventname` or `customerid`. Only the last of them is kept. Give each event an `eventid` of its own.',
  changed_event: () =>
    'An event with this `eventid` and another `eventname` or `customerid` was stored. This record has replaced it. Give each event an `eventid` of its own.',
  affiliation_changed: (from) =>
    `The customer has another affiliate now, who counts from ${from} on. Earlier days stay with the affiliate before.`,
  affiliation_corrected: (from) =>
    `The customer has another affiliate now, who counts from the signup on, ${from}: the first affiliate lasted less than a day, so it was corrected.`,
} satisfies Record<string, (quoted: string, more: string) => string>

/** The name of a warning message. */
export type WarningCode = keyof typeof MESSAGES

/** The messages that share the code of another. */
const WIRE_CODES = {
  product_as_detail: 'unmapped_product',
  repeated_activity: 'repeated_key',
  repeated_eventid: 'repeated_key',
  affiliation_corrected: 'affiliation_changed',
} as const satisfies Partial<Record<WarningCode, WarningCode>>

/** A code as responses have it. */
export type WireCode = Exclude<WarningCode, keyof typeof WIRE_CODES>

const wireCodes: Partial<Record<WarningCode, WireCode>> = WIRE_CODES

/**
 * Returns a warning with its message. `value` and `more` are quoted in it, so neither may be
 * personal. (`formatIssue` writes the warning `unknown_affiliate`.)
 */
export function warning(
  code: WarningCode,
  pointer: string,
  value: unknown = '',
  more = '',
): Warning {
  const format: (quoted: string, more: string) => string = MESSAGES[code]
  return { code: wireCodes[code] ?? code, pointer, message: format(quote(value), quote(more)) }
}

/** Returns a warning for a withdrawn currency, which is stored because the event may be older. */
export function currencyWarnings(code: unknown, pointer: string): Warning[] {
  const month = typeof code === 'string' ? WITHDRAWN.get(code) : undefined
  return month === undefined ? [] : [warning('withdrawn_currency', pointer, code, month)]
}
