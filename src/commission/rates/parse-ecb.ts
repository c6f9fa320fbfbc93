import { validationFailed } from '../../platform/http/read-fields.ts'
import { readCsv } from '../../platform/money/csv.ts'
import { decimal, plainText } from '../../platform/money/decimal.ts'
import { parseDay } from '../../platform/validation/calendar.ts'
import { CURRENCIES, WITHDRAWN } from '../../platform/validation/iso-4217.ts'
import type { Issue } from '../../platform/validation/issue.ts'
import { pointerStep } from '../../platform/validation/pointer.ts'
import type { RateTable } from '../db/rates.ts'

/** The most days of a file. */
export const MAX_DAYS = 10_000

/** Currencies that joined the euro before ISO 4217 listed what it withdraws, in files of the ECB. */
const FORMER = 'CYP EEK LTL LVL MTL ROL SIT SKK TRL'.split(' ')

/** A rate: a decimal above 0. */
const RATE = /^(?=.*[1-9])\d{1,12}(?:\.\d{1,12})?$/

const CUT = 'The file may have been cut off here. Download it again.'

/**
 * Parses a CSV of the European Central Bank: the column `Date`, and one for each currency.
 *
 * @param today The last day that may have rates.
 * @throws ApiError `validation_failed` with what is wrong. In a pointer, `/rows/0` is the first row below the
 * header.
 */
export function parseEcb(text: string, today: string): RateTable {
  const [header = [], ...rows] = readCsv(text).rows ?? []
  const names = header.at(-1)?.trim() === '' ? header.slice(0, -1) : header
  const columns = names.map((name) => name.trim())
  const currencies = columns.filter((name) => name !== 'Date')
  const issues = [...checkHeader(columns)]
  if (rows.length === 0 || rows.length > MAX_DAYS) {
    const received = String(rows.length)
    issues.push({ pointer: '/rows', code: 'record_count', expected: `1 to ${MAX_DAYS}`, received })
  }
  if (issues.length > 0) throw validationFailed(issues.slice(0, 1))
  const isCut = (row: readonly string[], i: number) =>
    row.length !== header.length || (i === rows.length - 1 && !text.endsWith('\n'))
  const seen = new Set<string>()
  const days = rows.map((row, i) => {
    const pointer = `/rows/${i}`
    const values = new Map(columns.map((name, column) => [name, row[column]?.trim() ?? '']))
    if (isCut(row, i)) {
      const expected = `exactly ${header.length} fields and a line break`
      issues.push({ pointer, code: 'length', expected, instruction: CUT })
      return { day: '', rates: {} }
    }
    const cell = values.get('Date') ?? ''
    const day = dayOf(cell) ?? ''
    issues.push(...checkDay({ pointer: `${pointer}/Date`, value: cell }, day, seen, today))
    seen.add(day)
    const rates: Record<string, string> = {}
    for (const currency of currencies) {
      const value = values.get(currency) ?? ''
      if (RATE.test(value)) rates[currency] = plainText(decimal(value))
      else if (value !== '' && value !== 'N/A')
        issues.push({ pointer: pointer + pointerStep(currency), ...NO_RATE, value })
    }
    return { day, rates }
  })
  if (issues.length > 0) throw validationFailed(issues)
  return days
}

const NO_RATE = {
  code: 'number',
  expected: 'a decimal above 0, such as 1.1684',
  instruction: 'Where there is no rate, leave the cell blank or write `N/A`.',
} as const

const NO_EURO = { instruction: 'Leave it out: rates are units of a currency for one euro.' }

const isQuoted = (code: string) =>
  code !== 'EUR' && (CURRENCIES.has(code) || WITHDRAWN.has(code) || FORMER.includes(code))

/** Returns what is wrong with the names of the columns. */
function checkHeader(columns: readonly string[]): Issue[] {
  const place = '/header'
  if (!columns.includes('Date')) {
    const instruction = 'Begin with the header of the ECB: `Date,USD,JPY,…`.'
    return [{ pointer: `${place}/Date`, code: 'required', instruction }]
  }
  return columns.flatMap((name, i): Issue[] => {
    const pointer = place + pointerStep(name)
    if (columns.indexOf(name) < i) {
      return [{ pointer, code: 'duplicate_key', instruction: 'Send each column once.' }]
    }
    if (name === 'Date' || isQuoted(name)) return []
    return [{ pointer, code: 'currency', value: name, ...(name === 'EUR' && NO_EURO) }]
  })
}

/** The days of the daily file: `2 October 2026`. */
const WRITTEN_DAY = /^\d{1,2} [A-Z][a-z]+ \d{4}$/

/** Returns the day of a cell; null if it has none. */
function dayOf(cell: string): string | null {
  if (!WRITTEN_DAY.test(cell)) return parseDay(cell)
  const date = new Date(`${cell} UTC`)
  return date.getUTCDate() === Number.parseInt(cell, 10) ? date.toISOString().slice(0, 10) : null
}

/** Returns what is wrong with the day of a row. */
function checkDay(
  at: { pointer: string; value: string },
  day: string,
  seen: ReadonlySet<string>,
  today: string,
): Issue[] {
  if (day === '') return [{ ...at, code: 'date' }]
  if (day > today) {
    const instruction = 'Rates have days up to today.'
    return [{ ...at, code: 'date', expected: 'in the future', instruction }]
  }
  return seen.has(day) ? [{ ...at, code: 'duplicate_key', instruction: 'Send each day once.' }] : []
}
