import * as v from 'valibot'
import { amount } from '../validation/fields.ts'
import type { Issue } from '../validation/issue.ts'
import { validateField } from '../validation/strict-object.ts'

/** A decimal, written as text. */
export const DECIMAL_PATTERN = /^-?\d+(?:\.\d+)?$/

// Digits, and what people put between them, but a decimal: a date or a clock time is none of these.
// One class and one repeat: it stays linear on hostile input.
const SEPARATED_PATTERN = /^[-+]?[\d.,'’_\s]+(?:e[-+]?\d{1,3})?$/i
const LONGEST = 100

/** How a decimal is written, for whoever wrote it otherwise. */
const FORM = 'digits with at most one point, such as "1000.00"'

/** Whether a value is meant as a decimal: any number, or decimal text. */
export const isDecimal = (value: unknown): value is number | string =>
  typeof value === 'number' || (typeof value === 'string' && DECIMAL_PATTERN.test(value))

/** Whether a text is a number to people, with separators or a sign, and none to us. */
export const hasSeparators = (value: unknown) =>
  typeof value === 'string' &&
  value.length <= LONGEST &&
  SEPARATED_PATTERN.test(value) &&
  /\d/.test(value)

/**
 * A decimal as a number, which holds it exactly, or what is wrong with it: it is none, or has more
 * than 15 significant digits as written.
 */
export function readDecimal(name: string, value: unknown): { issue: Issue | null; number: number } {
  if (!isWrittenDecimal(value))
    return { issue: validateField(name, value, decimal).issue, number: 0 }
  const number =
    typeof value === 'string' && countSignificantDigits(value) > 15 ? Number.NaN : Number(value)
  const { issue } = validateField(name, number, amount)
  return { issue, number: number + 0 }
}

/** No text is longer, whatever its zeros. */
export const MAX_CHARACTERS = 500

/** Whether a value is a decimal, and no longer than any text. */
function isWrittenDecimal(value: unknown): value is number | string {
  return isDecimal(value) && (typeof value === 'number' || value.length <= MAX_CHARACTERS)
}

/** A decimal, as a number or as text. */
export const decimal = v.custom<number | string>(isWrittenDecimal, `number ${FORM}`)

const countSignificantDigits = (text: string) =>
  text.replace(/[-.]/g, '').replace(/^0+|0+$/g, '').length
