import * as v from 'valibot'
import {
  amount,
  countSignificantDigits,
  MAX_SIGNIFICANT_DIGITS,
} from '../../platform/validation/fields.ts'
import type { Issue } from '../../platform/validation/issue.ts'
import { validateField } from '../../platform/validation/strict-object.ts'

/** Matches a decimal written as text. */
export const DECIMAL_PATTERN = /^-?\d+(?:\.\d+)?$/

// Matches digits with the separators that people use in numbers; dates and clock times do not match.
// A single character class with one repeat, so matching is linear on hostile input.
const SEPARATED_PATTERN = /^[-+]?[\d.,'’_\s]+(?:e[-+]?\d{1,3})?$/i

/** The longest text that is searched for separators, in characters. */
const MAX_SEPARATED_LENGTH = 100

/** How to write a decimal, for error messages. */
const DECIMAL_FORM = 'digits with at most one point, such as "1000.00"'

/** Returns whether a value is a decimal: any number, or decimal text. */
export const isDecimal = (value: unknown): value is number | string =>
  typeof value === 'number' || (typeof value === 'string' && DECIMAL_PATTERN.test(value))

/** Returns whether a text reads as a number to people, with separators or a plus sign. */
export const hasSeparators = (value: unknown) =>
  typeof value === 'string' &&
  value.length <= MAX_SEPARATED_LENGTH &&
  SEPARATED_PATTERN.test(value) &&
  /\d/.test(value)

/**
 * Returns a decimal as a number, which represents it exactly, or an issue if the value is not a decimal
 * or is written with more than 15 significant digits or 8 decimal places.
 */
export function readDecimal(name: string, value: unknown): { issue: Issue | null; number: number } {
  if (!isDecimalWithinLimit(value)) {
    return { issue: validateField(name, value, decimal).issue, number: 0 }
  }
  const number =
    typeof value === 'string' &&
    countSignificantDigits(value.replace(/[-.]/g, '')) > MAX_SIGNIFICANT_DIGITS
      ? Number.NaN
      : Number(value)
  const { issue } = validateField(name, number, amount)
  return { issue: issue && { ...issue, value }, number: number + 0 }
}

/** The longest decimal text, in characters, including zeros at either end. */
export const MAX_CHARACTERS = 500

/** Returns whether a value is a decimal within the length limit. */
function isDecimalWithinLimit(value: unknown): value is number | string {
  return isDecimal(value) && (typeof value === 'number' || value.length <= MAX_CHARACTERS)
}

/** The schema of a decimal, as a number or as text. */
export const decimal = v.custom<number | string>(isDecimalWithinLimit, `number ${DECIMAL_FORM}`)
