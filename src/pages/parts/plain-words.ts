import { transactionWord } from '../../commission/plans/plan-words.ts'
import type { ApiError } from '../../platform/errors.ts'
import { dayWords, periodWords } from './data.tsx'
import { CORRECT, HOLDS } from './field-words.ts'
import { labelOf } from './record-fields.tsx'

// Sentences of the administration API, which is written for engineers, as a member reads them.

/** What forms call the fields of requests. */
const NAMES: Readonly<Record<string, string>> = {
  from: 'From',
  to: 'To',
  on: 'Day',
  paid_on: 'day of the payment',
  payable_on: 'day when it is due',
  returned_on: 'day of the return',
  refuse: 'Refuse customers',
  keep_hold: 'Go on holding the payouts',
}

const TECHNICAL = /^[a-z]+(?:_[a-z]+)+$/

/** Returns what a field is called. */
export const nameOf = (name: string): string =>
  Object.hasOwn(NAMES, name) ? (NAMES[name] ?? name) : labelOf(name)

/** Returns the name of a field, a value such as `ib_rebate`, or a period, in words; other texts are data, and stay in backticks. */
function termWords(term: string): string {
  if (/^\d{4}-(?:W\d\d|0[1-9]|1[0-2])$/.test(term)) return `“${periodWords(term)}”`
  const label = nameOf(term)
  if (!Object.hasOwn(NAMES, term) && !TECHNICAL.test(term)) return `\`${term}\``
  return `“${label.replaceAll(' ', '_').toLowerCase() === term ? transactionWord(term) : label}”`
}

/** An instant, a day, a month or a week as the administration API writes it. */
const TIMES =
  /(?<![\w-])(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d):\d\d(?:\.\d+)?Z)?(?![\w-])|(?<![\w-])\d{4}-(?:W\d\d|(?:0[1-9]|1[0-2]))(?![\w-])/g

const timeWords = (found: string, day?: string, time?: string): string => {
  if (!day) return periodWords(found)
  return time ? `${dayWords(day)}, ${time} UTC` : dayWords(day)
}

/** Returns a sentence with times, fields and choices in the words of forms. */
export const plainWords = (sentence: string): string =>
  sentence
    .replace('`"leave_out_holds": true`', `“${HOLDS.options[1][1]}”`)
    .replace(/Read it, and send `after=\d+`/, 'What you typed is still here. Save it again')
    .replace('Send `?correct=true`', `Choose “${CORRECT.options[1][1]}”`)
    .split('`')
    .map((part, i) => (i % 2 === 0 ? part.replace(TIMES, timeWords) : termWords(part)))
    .join('')

/** The errors whose sentences quote a name or an id as the sender wrote it. */
const QUOTES_SENDER = /^(?:unknown_|field_case$)/

/** Returns an error with its sentences in words. */
export function errorWords<
  E extends { readonly message: string; readonly hint?: string; readonly code?: string },
>(error: E): E {
  const { message, hint, code = '' } = error
  // The API names the members of which one is needed; a form shows them.
  if (code === 'choice') return { ...error, message: 'Fill in exactly one of these.', hint: '' }
  if (QUOTES_SENDER.test(code)) return error
  return { ...error, message: plainWords(message), ...(hint && { hint: plainWords(hint) }) }
}

const WAITS: Readonly<Record<string, string>> = { 60: ' Try again in a minute.' }

/** Returns why an error was sent, and when a request that is refused for now may be sent again. */
export function detailWords({ details, title, status }: ApiError): string {
  const { detail = `${title}.`, headers } = details
  const seconds = status === 503 && headers?.['Retry-After']
  return detail + (seconds ? (WAITS[seconds] ?? ` Try again after ${seconds} seconds.`) : '')
}
