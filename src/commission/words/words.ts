import catalogue from '../../catalogues/commission.json' with { type: 'json' }
import { type Language, messagesByLanguage } from '../../platform/languages.ts'
import { memoize } from '../../platform/memoize.ts'
import { minorDigits } from '../../platform/money/minor-digits.ts'
import { foldCountry } from '../../platform/validation/country.ts'
import { decimalsOf } from './decimals.ts'
import type { Message } from './message.ts'

// Sentences in a language, with its figures, days and lists.

/** The name of a message. */
export type MessageName = keyof typeof catalogue

/** The messages of each language. */
export const MESSAGES = messagesByLanguage<MessageName, Message>(catalogue)

/** The values of the names in braces. Numbers are written as figures. */
export type Values = Readonly<Record<string, string | number>>

/** Writes messages, figures, days and lists. */
export interface Words {
  readonly language: Language
  /** Returns a message in which names in braces are replaced by values. */
  readonly text: (name: MessageName, values?: Values) => string
  /** Writes an exact decimal: `1,234.5`. */
  readonly figure: (text: string) => string
  /** Writes an exact amount with at least the minor digits of its currency: `1,234.50 EUR`. */
  readonly money: (text: string, currency: string) => string
  /** Writes an exact percentage: `12.5 %`. */
  readonly percent: (text: string) => string
  /** Writes `2026-10-05` as `5 Oct 2026`. */
  readonly day: (day: string) => string
  /** Writes `2026-10` as `October 2026`, `2026-W41` as `Week 41 of 2026`. */
  readonly period: (period: string) => string
  /** Joins a list: `a, b and c`. */
  readonly and: (items: readonly string[]) => string
  /** Joins a list of alternatives: `a, b or c`. */
  readonly or: (items: readonly string[]) => string
  /** Names a country, as it stands in a sentence. */
  readonly country: (text: string) => string
}

/** Returns the locale in which days and numbers are written in a language. */
export const localeOf = (language: Language): string => (language === 'en' ? 'en-GB' : language)

/** Whether a text is the name of a message. */
export const isMessageName = (text: string): text is MessageName => Object.hasOwn(catalogue, text)

const NAME = /\{(de )?(\w+)\}/g

const VOWEL = /^[aeiouàâäéèêëîïôöùûü]/i

/** Replaces the names in braces. A name without a value stays, so that tests find it. */
const fill = (message: string, values: Readonly<Record<string, string>>): string =>
  message.replace(NAME, (place, de: string | undefined, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    if (value === undefined) return place
    if (de === undefined) return value
    return VOWEL.test(value) ? `d’${value}` : `de ${value}`
  })

/** Returns a function that names countries, which are written as codes or names, in a language. */
function countriesOf(language: Language): Words['country'] {
  const names = memoize(() => new Intl.DisplayNames(language, { type: 'region', fallback: 'none' }))
  return (text) => {
    const code = foldCountry(text)
    return (code && names(null).of(code)) || text
  }
}

/** Returns how a language writes. */
export function wordsOf(language: Language): Words {
  const messages = MESSAGES[language]
  // British English has no comma before the last item of a list.
  const locale = localeOf(language)
  const plurals = memoize(() => new Intl.PluralRules(locale))
  const listOf = memoize(
    (type: 'conjunction' | 'disjunction') => new Intl.ListFormat(locale, { type }),
  )
  const month = memoize(
    () => new Intl.DateTimeFormat(locale, { month: 'long', year: 'numeric', timeZone: 'UTC' }),
  )
  const date = memoize(
    () =>
      new Intl.DateTimeFormat(locale, {
        day: 'numeric',
        month: 'short',
        year: 'numeric',
        timeZone: 'UTC',
      }),
  )
  const decimal = decimalsOf(locale)
  const choose = (message: Message, count: number): string =>
    typeof message === 'string' ? message : (message[plurals(null).select(count)] ?? message.other)
  const text: Words['text'] = (name, values = {}) =>
    fill(
      choose(messages[name], Number(values.count ?? 1)),
      Object.fromEntries(
        Object.entries(values).map(([one, value]) => [
          one,
          typeof value === 'number' ? decimal(String(value), 0) : value,
        ]),
      ),
    )
  return {
    language,
    text,
    figure: (value) => decimal(value, 0),
    money: (value, currency) => `${decimal(value, minorDigits(currency))} ${currency}`,
    percent: (value) => text('percent', { figure: decimal(value, 0) }),
    day: (day) => date(null).format(new Date(day)),
    period(period) {
      const [year = '', part = ''] = period.split('-')
      if (part.startsWith('W')) return text('week', { week: Number(part.slice(1)), year })
      return month(null).format(new Date(`${period}-01`))
    },
    and: (items) => listOf('conjunction').format(items),
    or: (items) => listOf('disjunction').format(items),
    country: countriesOf(language),
  }
}

/** The words of the console and of explanations. */
export const ENGLISH = wordsOf('en')
