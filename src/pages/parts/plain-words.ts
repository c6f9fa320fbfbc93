import type { ApiError } from '../../platform/errors.ts'
import type { Issue } from '../../platform/validation/issue.ts'
import { formatFor, type Voice } from '../../platform/validation/messages.ts'
import { quoteAll } from '../../platform/validation/quote.ts'
import type { FieldError } from '../page.ts'
import { dayWords, periodWords } from './data.tsx'
import {
  ACCOUNT_WORDS,
  CORRECT,
  DEFINITION_WORDS,
  type FieldWords,
  HOLDS,
  LINK_WORDS,
  WEBHOOK_WORDS,
} from './field-words.ts'

/** Returns the labels of fields whose names are no words. */
const labelsOf = (words: Readonly<Record<string, FieldWords>>) =>
  Object.entries(words).flatMap(([name, { label }]) => (name.includes('_') ? [[name, label]] : []))

/** The fields of requests that sentences of the administration API name, as forms call them. */
const NAMES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [ACCOUNT_WORDS, DEFINITION_WORDS, LINK_WORDS, WEBHOOK_WORDS].flatMap(labelsOf),
  ),
  affiliate_id: 'affiliate',
  paid_on: 'day of the payment',
  payable_on: 'day when it is due',
  returned_on: 'day of the return',
  override: 'reason to pay it nevertheless',
  refuse: 'Refuse customers',
  keep_hold: 'Go on holding the payouts',
}

/** An instant, a day, a month or a week as the administration API writes it. */
const TIMES =
  /(?<![\w-])(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d):\d\d(?:\.\d+)?Z)?(?![\w-])|(?<![\w-])\d{4}-(?:W\d\d|(?:0[1-9]|1[0-2]))(?![\w-])/g

const timeWords = (found: string, day?: string, time?: string): string => {
  if (!day) return periodWords(found)
  return time ? `${dayWords(day)}, ${time} UTC` : dayWords(day)
}

/** What is said to members: forms have fields and choices where programs send members. */
const TO_MEMBERS: Voice = {
  messages: {
    required: () => 'This is missing.',
    date_time: ({ quoted, expected }) =>
      expected ? null : `${quoted} is not a time of the calendar.`,
    date: ({ quoted, expected }) => (expected ? null : `${quoted} is not a day of the calendar.`),
    maximum: ({ quoted, expected }) =>
      /^\d/.test(expected) ? null : `${quoted} is later than ${expected}.`,
    choice: ({ expected }) => `Choose one of ${quoteAll(expected.split(', '))}.`,
  },
  hints: {
    required: () => null,
    unknown_field: () => null,
    unknown_affiliate: () => null,
    not_applicable: () => null,
    choice: () => null,
    date_time: () => null,
    digits: () => 'Round the number.',
    number: ({ expected }) =>
      expected ? 'Write it without separators, plus sign or exponent, such as -1000.00.' : null,
    order: () => 'Write the steps in ascending order, each “from” once.',
    fixed_by_plan: ({ expected }) => `Write “${expected}”, or make a new plan.`,
    rate_differs: () => null,
  },
}

/** Returns a sentence with times in words, and what it has in backticks as `nameOf` writes it. */
export const sentenceWords = (sentence: string, nameOf: (name: string) => string): string =>
  sentence
    .split('`')
    .map((part, i) => (i % 2 === 0 ? part.replace(TIMES, timeWords) : nameOf(part)))
    .join('')

const nameInForms = (name: string): string =>
  Object.hasOwn(NAMES, name) ? `“${NAMES[name]}”` : `\`${name}\``

/**
 * Returns a sentence of the administration API as a member reads it: times in words, and fields and
 * choices by the names that forms have for them. What is in backticks is data, and stays as it is.
 */
export const plainWords = (sentence: string): string =>
  sentenceWords(
    sentence
      .replace('`"leave_out_holds": true`', `“${HOLDS.options[1][1]}”`)
      .replace('Send `?correct=true`', `Choose “${CORRECT.options[1][1]}”`),
    nameInForms,
  )

/** Returns a broken rule as a member reads it. */
export function issueWords(issue: Issue, nameOf = nameInForms): FieldError {
  const { pointer, message, hint } = formatFor(TO_MEMBERS, issue)
  return {
    ...{ pointer, issue, message: sentenceWords(message, nameOf) },
    ...(hint && { hint: sentenceWords(hint, nameOf) }),
  }
}

const WAITS: Readonly<Record<string, string>> = { 60: ' Try again in a minute.' }

/** Returns why an error was sent, and when a request that is refused for now may be sent again. */
export function detailWords({ details, title, status }: ApiError): string {
  const { detail = `${title}.`, headers } = details
  const seconds = status === 503 && headers?.['Retry-After']
  return detail + (seconds ? (WAITS[seconds] ?? ` Try again after ${seconds} seconds.`) : '')
}
