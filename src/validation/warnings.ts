import { WITHDRAWN } from './iso-4217.ts'

/** Something the sender should know of a record that is stored. */
export interface Warning {
  code: string
  pointer: string
  message: string
}

/** What each warning says; `of` is what it is about, `more` what else there is to say. */
const MESSAGES = {
  withdrawn_currency: (of, more) => `${of} was withdrawn from ISO 4217 in ${more}.`,
  unattributed: () => 'Nothing says where this customer came from: it is paid to nobody.',
  altered: () => 'tracking_data is not as we gave it out, and proves nothing. Return it unchanged.',
  field_case: (of, more) => `${of} is kept as a field of your own; did you mean ${more}?`,
  foreign: () => 'tracking_data was given out for another account, and proves nothing here.',
  unrecognised: () => 'tracking_data is not in our format: no link of ours led to this customer.',
  conflict: () =>
    'The link in tracking_data belongs to another affiliate; the one named in affiliate_id is paid.',
  erased: () => 'The personal data of this customer was erased, and is not stored again.',
  not_a_number: (of) =>
    `${of} is no decimal, and kept as a detail: write decimals without separators.`,
  not_deduplicated: () =>
    'Nothing tells this event from others: sent again it counts again. Send an eventid, or the day of a daily total as its createtime, or the header Idempotency-Key.',
  no_createtime: () => 'There is no createtime: it counts on the day it was first received.',
  skipped_time: (of, more) =>
    `${of} is left out by daylight saving in the account's time zone; it was read as ${more}.`,
  ambiguous_time: (of, more) =>
    `${of} is there twice in the account's time zone; the first was taken, ${more}.`,
  unmapped_product: (of) =>
    `${of} is mapped to no product line (casino, sports, poker, bingo), and counts as itself.`,
  stray_product: (of) =>
    `${of} is a detail, since no event definition names this field: send product, in lower case.`,
} satisfies Record<string, (of: string, more: string) => string>

/** The code of a warning. */
export type WarningCode = keyof typeof MESSAGES

/** What is told in other words, under the code of another. */
const WIRE_CODES: Partial<Record<WarningCode, WarningCode>> = { stray_product: 'unmapped_product' }

/** A warning in words: the only place that makes them, those of `unknown_affiliate` aside. */
export function warning(code: WarningCode, pointer: string, of = '', more = ''): Warning {
  const say: (of: string, more: string) => string = MESSAGES[code]
  return { code: WIRE_CODES[code] ?? code, pointer, message: say(of, more) }
}

/** A currency that was withdrawn is stored: the event may be older than its end. */
export function currencyWarnings(code: unknown, pointer: string): Warning[] {
  const month = WITHDRAWN.get(code as string)
  return month === undefined ? [] : [warning('withdrawn_currency', pointer, String(code), month)]
}
