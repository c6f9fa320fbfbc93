import { dayWords, periodWords } from './data.tsx'
import {
  ACCOUNT_WORDS,
  DEFINITION_WORDS,
  type FieldWords,
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

/** What programs must do, such as how to write times and days, which a form does for its member. */
const FORMS: readonly (readonly [pattern: RegExp, words: string])[] = [
  [/is not a valid RFC 3339 date-time with an offset or `Z`/, 'is not a time of the calendar'],
  [/not a valid date in the form `YYYY-MM-DD`/, 'not a day of the calendar'],
  [/more than the maximum, (today|tomorrow) in UTC\+14/, 'later than $1'],
  [/Send a date-time such as .*/, ''],
  [/are archived\. They are being restored\./, 'are in the archive, and come back from it now.'],
  [
    /are archived\. An object of the archive is damaged: (.*)\. The integrations team must repair it\./,
    'are in the archive, and a file of it is damaged or missing: $1. Tell the engineers: “A damaged archive” of the runbook says how to put it back.',
  ],
  [/Repeat the same request after 60 seconds\./, 'Try again in a minute.'],
  [/Repeat the same request after (\d+) seconds\./, 'Try again after $1 seconds.'],
]

/**
 * Returns a sentence of the administration API as a member reads it: times in words, and fields by the names
 * that forms have for them. What is in backticks is data, and stays as it is.
 */
export const plainWords = (sentence: string): string =>
  FORMS.reduce((text, [pattern, words]) => text.replace(pattern, words), sentence)
    .split('`')
    .map((part, i) => {
      if (i % 2 === 0) return part.replace(TIMES, timeWords)
      const name = Object.hasOwn(NAMES, part) ? NAMES[part] : undefined
      return name ? `“${name}”` : `\`${part}\``
    })
    .join('')
