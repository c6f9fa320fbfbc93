import { parseDay } from '../../validation/calendar.ts'
import type { ReadCell } from './rate-text.ts'

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]

/** A day as the daily file of the ECB writes it: `13 April 2026`. */
const WRITTEN_DAY = /^(\d{1,2}) ([A-Z][a-z]+) (\d{4})$/

/**
 * Returns the day of a row as `YYYY-MM-DD`, and adds it to `seen`. Refuses a day in `seen` or in
 * the future.
 */
export function readRateDay(cell: string, seen: Set<string>, today: string): ReadCell {
  const day = parseDay(toDigits(cell))
  if (day === null) return { value: null, issue: { code: 'date', value: cell } }
  if (day > today) {
    const instruction = 'Rates have days up to today.'
    const expected = 'in the future'
    return { value: null, issue: { code: 'date', value: cell, expected, instruction } }
  }
  if (seen.has(day)) {
    return { value: null, issue: { code: 'duplicate_key', instruction: 'Send each day once.' } }
  }
  seen.add(day)
  return { value: day, issue: null }
}

/** Returns a day with a written month in digits; any other text as it is. */
function toDigits(cell: string): string {
  const [, date = '', month = '', year = ''] = WRITTEN_DAY.exec(cell) ?? []
  const number = MONTHS.indexOf(month) + 1
  if (number === 0) return cell
  return `${year}-${String(number).padStart(2, '0')}-${date.padStart(2, '0')}`
}
