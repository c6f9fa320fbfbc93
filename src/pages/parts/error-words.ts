import { transactionWord } from '../../commission/engine/plan-words.ts'
import { sentenceWords } from './plain-words.ts'
import { labelOf } from './record-fields.tsx'

// What the errors of refused records mean for a manager. Engineers find the response to the sender below.

/** The codes of errors in words, by which deliveries can be filtered. */
export const ERROR_TITLES: Readonly<Record<string, string>> = {
  required: 'A field is missing',
  unknown_field: 'Unknown field',
  field_case: 'Wrong spelling of a field',
  type: 'Wrong type of value',
  enum: 'Not one of the choices',
  pattern: 'Wrong form',
  date_time: 'Not a valid time',
  date: 'Not a valid day',
  number: 'Not a valid number',
  digits: 'Too many digits',
  decimals: 'Too many decimal places',
  minimum: 'Too small',
  maximum: 'Too large',
  length: 'Too long, or empty',
  text: 'Invalid characters',
  email: 'Not an email address',
  currency: 'Unknown currency',
  no_kpi: 'No amount',
  duplicate_key: 'Sent twice in one delivery',
  unknown_customer: 'Unknown customer',
  unknown_affiliate: 'Unknown affiliate',
  month_archived: 'Of an archived month',
  record_count: 'Wrong number of records',
  idempotency_key_reused: 'Another delivery under the same key',
}

/** Returns the code of an error in words. */
export const errorTitle = (code: string): string => ERROR_TITLES[code] ?? labelOf(code)

/** The errors whose sentences quote a name or an id as the sender wrote it. */
const QUOTES_SENDER = /^(?:unknown_|field_case$)/

const TECHNICAL = /^[a-z]+(?:_[a-z]+)+$/

/** Returns the name of a field, or a value such as `ib_rebate`, in words. */
function termWords(term: string): string {
  if (!TECHNICAL.test(term)) return `\`${term}\``
  const label = labelOf(term)
  return `“${label.replaceAll(' ', '_').toLowerCase() === term ? transactionWord(term) : label}”`
}

/** Returns the sentences of an error in words. */
export function errorSentences(error: {
  readonly code: string
  readonly message: string
  readonly hint?: string
}): { readonly message: string; readonly hint?: string } {
  const { code, message, hint } = error
  if (QUOTES_SENDER.test(code)) return { message, ...(hint && { hint }) }
  const words = (text: string) => sentenceWords(text, termWords)
  return { message: words(message), ...(hint && { hint: words(hint) }) }
}
