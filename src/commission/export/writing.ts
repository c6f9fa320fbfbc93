import { DAY_MS } from '../../durations.ts'
import { storedPeriod } from '../engine/calendar.ts'
import { minorDigits } from '../minor-digits.ts'
import { type LabelName, labelsOf, languageOf } from './labels.ts'

// How a printed statement writes labels, days, periods and numbers. What it says of rules and corrections is English.

/** Writes days, periods and exact numbers in the way of a locale. */
export interface Writing {
  /** The language of the labels, such as `de`. */
  readonly language: string
  /** Returns a label in which names in braces are replaced by values. */
  readonly label: (name: LabelName, values?: Readonly<Record<string, string | number>>) => string
  /** Writes `2026-10-05` as `5 Oct 2026`. */
  readonly day: (day: string) => string
  /** Writes `2026-10` as `October 2026`, `2026-W41` as `Week 41 of 2026`. */
  readonly period: (period: string) => string
  /** Writes the days of a period: `1–31 Oct 2026`. */
  readonly days: (period: string) => string
  /** Writes an exact decimal: `1,234.5`. */
  readonly figure: (text: string) => string
  /** Writes an exact amount with at least the minor digits of its currency: `1,234.50 EUR`. */
  readonly money: (text: string, currency: string) => string
  /** Writes the numbers of an English sentence in the way of the locale. */
  readonly sentence: (text: string) => string
}

/** The locale of accounts that have none. */
export const DEFAULT_LOCALE = 'en-GB'

/** Whether a text is a decimal that `Intl.NumberFormat` reads exactly. */
const isDecimal = (text: string): text is `${number}` => /^-?\d+(?:\.\d+)?$/.test(text)

/** The most digits after the point that `Intl.NumberFormat` writes. */
const MOST_DIGITS = 20

/** A number with groups or a fraction in an English sentence; ids such as `v1.5` are none. */
const ENGLISH_NUMBER = /(?<![\w.,-])\d{1,3}(?:,\d{3})*(?:\.\d+)?(?![\w-]|[.,]\d)/g

/** Returns how a locale writes. Throws a RangeError if there is no such locale. */
export function writingOf(locale: string): Writing {
  const date = new Intl.DateTimeFormat(locale, {
    ...{ day: 'numeric', month: 'short', year: 'numeric' },
    timeZone: 'UTC',
  })
  const month = new Intl.DateTimeFormat(locale, { month: 'long', year: 'numeric', timeZone: 'UTC' })
  const decimal = (text: string, digits: number): string =>
    isDecimal(text)
      ? new Intl.NumberFormat(locale, {
          minimumFractionDigits: digits,
          maximumFractionDigits: MOST_DIGITS,
        }).format(text)
      : text
  const labels = labelsOf(locale)
  const label: Writing['label'] = (name, values = {}) =>
    labels[name].replace(/\{(\w+)\}/g, (_, one) => String(values[one] ?? ''))
  return {
    language: languageOf(locale),
    label,
    day: (day) => date.format(new Date(day)),
    period(period) {
      const [year = '', part = ''] = period.split('-')
      if (part.startsWith('W')) return label('week', { week: Number(part.slice(1)), year })
      return month.format(new Date(`${period}-01`))
    },
    days(period) {
      const { first, last } = storedPeriod(period)
      return date.formatRange(new Date(first * DAY_MS), new Date(last * DAY_MS))
    },
    figure: (text) => decimal(text, 0),
    money: (text, currency) => `${decimal(text, minorDigits(currency))} ${currency}`,
    sentence: (text) =>
      text.replace(ENGLISH_NUMBER, (found) => {
        const [, fraction = ''] = found.split('.')
        return decimal(found.replaceAll(',', ''), fraction.length)
      }),
  }
}
