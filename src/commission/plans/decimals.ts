import * as v from 'valibot'
import { countSignificantDigits } from '../../platform/validation/fields.ts'
import { ruleMessage } from '../../platform/validation/issue.ts'

// Decimals of plans are text, so that no double ever rounds a rate or a threshold.

/** The limits of a decimal. */
export const DECIMAL_LIMITS = { digits: 15, places: 6 } as const

/** The form of a decimal. */
export const DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/

/** Refused: `-0` equals `0` but would make a new version. */
const NEGATIVE_ZERO = /^-0(?:\.0*)?$/

const placesOf = (text: string) => text.split('.')[1]?.length ?? 0

/** Whether a decimal has at most so many significant digits, and as many before its point. */
const hasFewDigits = (text: string, digits: number) => {
  const [whole = '', fraction = ''] = text.replace('-', '').split('.')
  return whole.length <= digits && countSignificantDigits(whole + fraction) <= digits
}

/** Returns a schema for decimals of any sign, with at most so many significant digits and 6 places. */
const decimalOf = (digits: number) =>
  v.pipe(
    v.string(),
    v.regex(DECIMAL, ruleMessage('number', 'digits with at most one point')),
    v.check((text) => !NEGATIVE_ZERO.test(text), ruleMessage('pattern', '`0` without a sign')),
    v.check(
      (text) => placesOf(text) <= DECIMAL_LIMITS.places,
      ruleMessage('decimals', String(DECIMAL_LIMITS.places)),
    ),
    v.check((text) => hasFewDigits(text, digits), ruleMessage('digits', String(digits))),
  )

/** A decimal of any sign, with at most 15 significant digits and 6 decimal places. */
export const decimal = decimalOf(DECIMAL_LIMITS.digits)

const hasNoSign = v.check<string, string>(
  (text) => !text.startsWith('-'),
  ruleMessage('minimum', '0'),
)

const isAboveZero = v.check<string, string>(
  (text) => /[1-9]/.test(text),
  ruleMessage('pattern', 'a decimal greater than 0'),
)

/** A decimal of zero or more, without a sign. */
export const notNegative = v.pipe(decimal, hasNoSign)

/** A decimal above zero. */
export const positive = v.pipe(notNegative, isAboveZero)

/** The maximum number of digits of an amount of money: those that the sums of the books have. */
const MONEY_DIGITS = 48

/** An amount above zero, with as many digits as a statement may have to pay. */
export const positiveMoney = v.pipe(decimalOf(MONEY_DIGITS), hasNoSign, isAboveZero)

/** A decimal of zero or less. */
export const notPositive = v.pipe(
  decimal,
  v.check((text) => text.startsWith('-') || !/[1-9]/.test(text), ruleMessage('maximum', '0')),
)

/** Returns a schema for whole numbers from `min` to `max`. */
export const wholeNumber = (min: number, max: number) =>
  v.pipe(
    v.number(),
    v.integer(ruleMessage('pattern', 'a whole number')),
    v.minValue(min, ruleMessage('minimum', String(min))),
    v.maxValue(max, ruleMessage('maximum', String(max))),
  )
