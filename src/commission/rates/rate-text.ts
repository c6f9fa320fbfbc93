import type { Issue } from '../../validation/issue.ts'
import { countSignificantDigits } from '../../validation/significant-digits.ts'

/** A value of a cell, or why the cell has none. */
export interface ReadCell {
  readonly value: string | null
  readonly issue: Omit<Issue, 'pointer'> | null
}

const DECIMAL = /^-?\d+(?:\.\d+)?$/

/** The digits that a rate may have: those of every amount. */
const MAX_DIGITS = 15
const MAX_PLACES = 12

/** The smallest rate with that many decimal places. */
const MINIMUM = '0.000000000001'

const NO_RATE = 'Where there is no rate, leave the cell blank or write `N/A`.'

/**
 * Returns a rate without zeros at either end, or null for a blank cell and `N/A`. Refuses zero and
 * negative rates, and more digits than an amount may have.
 */
export function readRate(cell: string): ReadCell {
  if (cell === '' || cell === 'N/A') return { value: null, issue: null }
  if (!DECIMAL.test(cell)) {
    const expected = 'digits with at most one point, such as 1.1684'
    const issue = { code: 'number', expected, value: cell, instruction: NO_RATE } as const
    return { value: null, issue }
  }
  const [whole = '', fraction = ''] = cell.split('.').map((digits) => digits.replace('-', ''))
  const digits = countSignificantDigits(whole + fraction)
  if (cell.startsWith('-') || digits === 0) {
    const issue = { code: 'minimum', expected: MINIMUM, value: cell, instruction: NO_RATE } as const
    return { value: null, issue }
  }
  const [wholeDigits, places] = [trimStart(whole), trimEnd(fraction)]
  if (digits > MAX_DIGITS || wholeDigits.length > MAX_DIGITS || places.length > MAX_PLACES) {
    return { value: null, issue: { code: 'digits', value: cell } }
  }
  return { value: `${wholeDigits || '0'}${places && `.${places}`}`, issue: null }
}

// No regular expressions: they would take quadratic time.

function trimStart(digits: string): string {
  let start = 0
  while (digits[start] === '0') start += 1
  return digits.slice(start)
}

function trimEnd(digits: string): string {
  let end = digits.length
  while (digits[end - 1] === '0') end -= 1
  return digits.slice(0, end)
}
