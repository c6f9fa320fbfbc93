import type { RateTable } from '../../db/commission/rates.ts'
import { ApiError } from '../../errors.ts'
import { parseDay } from '../../validation/calendar.ts'
import { countSignificantDigits } from '../../validation/fields.ts'
import { CURRENCIES, WITHDRAWN } from '../../validation/iso-4217.ts'
import type { Issue } from '../../validation/issue.ts'
import { formatIssue } from '../../validation/messages.ts'
import { pointerStep } from '../../validation/pointer.ts'

/** The number of issues of a file that a response lists. */
export const MAX_LISTED = 1000

/** What is wrong with a file: the first issues, and the number of all. */
interface IssueList {
  readonly listed: readonly Issue[]
  readonly total: number
  add(issue: Issue): void
}

/** Returns an empty list. It keeps 1000 issues and counts the others. */
function issueList(): IssueList {
  const listed: Issue[] = []
  let total = 0
  return {
    listed,
    get total() {
      return total
    },
    add(issue) {
      total += 1
      if (listed.length < MAX_LISTED) listed.push(issue)
    },
  }
}

/** Returns the error for a refused file. */
export const fileRefused = (issues: Pick<IssueList, 'listed' | 'total'>) =>
  new ApiError('validation_failed', {
    detail: 'The file was refused. Nothing was stored.',
    errors: issues.listed.map(formatIssue),
    errors_total: issues.total,
  })

/** A value of a cell, or why the cell has none. */
interface ReadCell {
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
function readRate(cell: string): ReadCell {
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

// The ECB's own CSV: a header `Date,USD,JPY,…` and a row for each day, both in any order. The daily
// file has spaces after its commas, and each line may end with one more comma. Its fields have no
// quotes, so a split suffices; csv-parse would add 14 KiB to a small bundle.

/** The limits of one file. The ECB has published about 7000 days and 42 currencies since 1999. */
export const RATE_FILE_LIMITS = { days: 10_000, currencies: 100 }

/** The day, the currencies, and the empty field after a trailing comma. */
const MAX_FIELDS = RATE_FILE_LIMITS.currencies + 2

/** Currencies that were replaced before `data/iso-4217.csv` begins. */
const FORMER = 'CYP EEK LTL LVL MTL ROL SIT SKK TRL'.split(' ')

/** A column of the file. */
interface Column {
  readonly name: string
  /** The place of its rates in a row of the table; null if it is the day, or is not valid. */
  readonly index: number | null
}

/**
 * Parses the ECB's CSV. If it has issues, nothing of the table may be stored. Pointers are
 * `/header/USD`, and `/rows/0/USD` for the first row below the header.
 *
 * @param today The last day that rates can have: a later one would mark earlier days as complete.
 */
export function parseEcb(text: string, today: string): { table: RateTable; issues: IssueList } {
  const issues = issueList()
  const complete = withoutBlankRows(text)
  const maxDays = RATE_FILE_LIMITS.days
  const [header = '', ...rows] = complete.split('\n', maxDays + 2)
  const fields = splitLine(header)
  const names = fields.length > 1 && fields.at(-1) === '' ? fields.slice(0, -1) : fields
  const refusal =
    refuseHeader(header, fields, names) ?? refuseRows(rows, complete) ?? refuseEnd(rows, text)
  if (refusal) {
    issues.add(refusal)
    return { table: { currencies: [], days: [] }, issues }
  }
  const { columns, currencies } = readHeader(names, issues)
  const seen = new Set<string>()
  const days = rows.flatMap((row, i) => {
    const cells = splitLine(row)
    const pointer = `/rows/${i}`
    const context = { pointer, seen, issues, today }
    if (cells.length === fields.length) return [readRow(cells, columns, context)]
    issues.add(wrongFieldCount(pointer, fields.length, countOf(row, ',') + 1))
    return []
  })
  return { table: { currencies, days }, issues }
}

/** Returns a text without the rows at its end that are empty or have only separators. */
function withoutBlankRows(text: string): string {
  let complete = text.trimEnd()
  for (;;) {
    const end = complete.lastIndexOf('\n')
    if (end === -1 || complete.slice(end).replaceAll(',', '').trim() !== '') return complete
    complete = complete.slice(0, end).trimEnd()
  }
}

/** Returns the number of times that a character occurs in a text. */
const countOf = (text: string, char: string) => text.length - text.replaceAll(char, '').length

/** Returns the fields of a line without spaces around them, at most one more than a file may have. */
const splitLine = (line: string) => line.split(',', MAX_FIELDS + 1).map((field) => field.trim())

/** Returns why a file with this header is refused before its rows are read, or null. */
function refuseHeader(
  header: string,
  fields: readonly string[],
  names: readonly string[],
): Issue | null {
  if (fields.length > MAX_FIELDS) {
    const expected = `at most ${RATE_FILE_LIMITS.currencies} currencies`
    const received = String(countOf(header, ','))
    return { pointer: '/header', code: 'length', expected, received }
  }
  if (names.includes('Date')) return null
  const instruction = 'Begin with the header of the ECB: `Date,USD,JPY,…`, separated by commas.'
  return { pointer: '/header/Date', code: 'required', instruction }
}

/** Returns why a file with these rows is refused as a whole, or null. */
function refuseRows(rows: readonly string[], text: string): Issue | null {
  const { days } = RATE_FILE_LIMITS
  if (rows.length >= 1 && rows.length <= days) return null
  const received = String(countOf(text, '\n'))
  return { pointer: '/rows', code: 'record_count', expected: `1 to ${days}`, received }
}

/** Returns why a file without a last line break is refused: it may be cut within its last rate. */
function refuseEnd(rows: readonly string[], text: string): Issue | null {
  if (text.endsWith('\n')) return null
  return {
    pointer: `/rows/${rows.length - 1}`,
    code: 'length',
    expected: 'a line break at its end',
    received: 'none',
    instruction: 'The file may have been cut off here. Download it again.',
  }
}

const wrongFieldCount = (pointer: string, expected: number, received: number): Issue => ({
  pointer,
  code: 'length',
  expected: `exactly ${expected} fields, as in the header`,
  received: String(received),
  instruction: 'The file may have been cut off here. Download it again.',
})

/** Reads the names of the columns. Each must be a currency other than the euro, and occur once. */
function readHeader(names: readonly string[], issues: IssueList) {
  const currencies: string[] = []
  const columns = names.map((name, i): Column => {
    const pointer = `/header${pointerStep(name)}`
    if (name === '') {
      issues.add({
        pointer,
        code: 'required',
        instruction: `Column ${i + 1} has no title. ${NO_TITLE}`,
      })
    } else if (names.indexOf(name) < i) {
      issues.add({ pointer, code: 'duplicate_key', instruction: 'Send each column once.' })
    } else if (isQuoted(name)) return { name, index: currencies.push(name) - 1 }
    else if (name !== 'Date') {
      issues.add({ pointer, code: 'currency', value: name, ...(name === 'EUR' && NO_EURO) })
    }
    return { name, index: null }
  })
  return { columns, currencies }
}

const NO_TITLE = 'Give it the code of its currency, or remove it.'

const NO_EURO = { instruction: 'Leave it out: rates are units of a currency for one euro.' }

/** Returns whether the ECB may publish units of this currency for one euro. */
const isQuoted = (code: string) =>
  code !== 'EUR' && (CURRENCIES.has(code) || WITHDRAWN.has(code) || FORMER.includes(code))

/** Reads the day and the rates of a row. */
function readRow(
  cells: readonly string[],
  columns: readonly Column[],
  {
    pointer,
    seen,
    issues,
    today,
  }: { pointer: string; seen: Set<string>; issues: IssueList; today: string },
): RateTable['days'][number] {
  const rates: (string | null)[] = []
  let day = ''
  for (const [i, { name, index }] of columns.entries()) {
    const cell = cells[i] ?? ''
    if (index === null && name !== 'Date') continue
    const { value, issue } = index === null ? readRateDay(cell, seen, today) : readRate(cell)
    if (issue) issues.add({ pointer: pointer + pointerStep(name), ...issue })
    if (index === null) day = value ?? ''
    else rates[index] = value
  }
  return { day, rates }
}

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
function readRateDay(cell: string, seen: Set<string>, today: string): ReadCell {
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
