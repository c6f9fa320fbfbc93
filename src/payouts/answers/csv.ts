import { eachCsvRow } from '../../commission/csv.ts'
import { minorDigits } from '../../commission/minor-digits.ts'
import { readAmount, readDay } from '../../commission/typed.ts'
import { referencesIn } from '../reference.ts'
import { bankWords } from './reasons.ts'
import type { EachRow, Says } from './row.ts'

// CSV of banks and payment services. It is known by its headings.

/** Which columns of a CSV say what, by their headings. `|` stands between headings of the same column. */
interface CsvFormat {
  readonly name: string
  readonly day: string
  /** Amounts, each with `/` and its currency unless that is the account's. Of all, the first has the sign. */
  readonly amounts: readonly string[]
  readonly account?: string
  /** The column of the state. Empty: the row is booked. */
  readonly state?: string
  /** The column that says `OUT` or `IN`, where amounts have no sign. */
  readonly direction?: string
  /** Amounts are those that were paid: a negative one came back. */
  readonly isPaid?: true
  /** The month stands first in days. */
  readonly isMonthFirst?: true
}

/** The files that are known. */
const FORMATS: readonly CsvFormat[] = [
  {
    name: 'CSV-CAMT',
    day: 'Buchungstag',
    state: 'Info',
    account: 'Auftragskonto',
    amounts: ['Betrag/Waehrung|Währung'],
  },
  {
    name: 'Wise',
    day: 'Finished on',
    state: 'Status',
    direction: 'Direction',
    amounts: [
      'Target amount (after fees)/Target currency',
      'Source amount (after fees)/Source currency',
    ],
  },
  {
    name: 'Revolut',
    day: 'Date completed (UTC)',
    state: 'State',
    amounts: ['Amount/Payment currency', 'Orig amount/Orig currency'],
  },
  {
    name: 'Mercury',
    day: 'Date (UTC)',
    state: 'Status',
    isMonthFirst: true,
    amounts: ['Amount'],
  },
  {
    name: 'PayPal',
    day: 'Date|Datum',
    state: 'Status',
    amounts: ['Gross|Brutto/Currency|Währung'],
  },
  { name: 'a table of payments', day: 'paid_on', amounts: ['amount/currency'], isPaid: true },
]

/** What the state is of a row that is booked, and of one that failed or came back. Others are pending. */
const BOOKED = /^(?:completed|sent|received|abgeschlossen|umsatz gebucht)/i
const FAILED =
  /fail|refund|revert|declin|cancel|return|denied|reversed|unclaimed|erstattet|storniert/i

/** The parts of a day, and what stands between them. A time may follow. */
const DAY = /^(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d\d)\b/

/** A day at the beginning of a cell that is after the 12th, where the month or the day stands first. */
const MONTH_FIRST = /(?:^|[",;\t])\d{1,2}([/-])(?:1[3-9]|2\d|3[01])\1\d{4}/m
const DAY_FIRST = /(?:^|[",;\t])(?:1[3-9]|2\d|3[01])([/-])\d{1,2}\1\d{4}/m

/** Reads a day; null if it is none, or if it has no points and nothing says which number is the month. */
export function dayOf(text: string, isMonthFirst: boolean | null = null): string | null {
  const [, first, sign, second, year] = DAY.exec(text) ?? []
  if (sign && sign !== '.' && isMonthFirst === null) return null
  const [day, month] = isMonthFirst && sign !== '.' ? [second, first] : [first, second]
  const read = readDay(year ? `${day}.${month}.${year.padStart(4, '20')}` : text.slice(0, 10))
  return 'value' in read ? read.value : null
}

/** Returns the letters of a heading, by which it is known. */
const keyOf = (heading: string) =>
  heading
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[\s_]+/g, '')

/** Reads the rows of a CSV. Returns the name of its format; null if its headings are not known. */
export function readAnswerCsv(text: string, each: EachRow): string | null {
  const rows = eachCsvRow(text)
  const headings = (rows.next().value ?? []).map(keyOf)
  const placeOf = (column: string) =>
    headings.findIndex((heading) => column.split('|').map(keyOf).includes(heading))
  const format = FORMATS.find(({ day, amounts: [first = ''], account = day }) =>
    [day, account, ...first.split('/')].every((column) => placeOf(column) >= 0),
  )
  if (!format) return null
  const cellsOf = (column: string | undefined) => {
    const place = column === undefined ? -1 : placeOf(column)
    return (row: readonly string[]) => row[place]?.trim() ?? ''
  }
  const [dayIn, stateIn] = [cellsOf(format.day), cellsOf(format.state)]
  const [directionIn, accountIn] = [cellsOf(format.direction), cellsOf(format.account)]
  const amountsIn = format.amounts.map((pair) => pair.split('/').map(cellsOf))
  const isShown = MONTH_FIRST.test(text) === DAY_FIRST.test(text) ? null : MONTH_FIRST.test(text)
  let n = 1
  for (const row of rows) {
    n += 1
    const signed = amountsIn.flatMap(([amountIn, currencyIn]) => {
      const currency = currencyIn ? currencyIn(row).toUpperCase() : null
      const read = readAmount(amountIn?.(row) ?? '', minorDigits(currency || 'EUR'))
      return 'value' in read && currency !== '' ? [{ amount: read.value, currency }] : []
    })
    const isNegative = signed[0]?.amount.startsWith('-') ?? false
    const isDebit = isNegative !== !!format.isPaid || /^out/i.test(directionIn(row))
    const state = stateIn(row)
    const moved: Says = isDebit ? 'paid' : 'returned'
    const says = !state || BOOKED.test(state) ? moved : FAILED.test(state) ? 'failed' : 'pending'
    // Beside a reference, a bank writes why the money is back.
    const isWhy = (cell: string) =>
      says !== 'paid' && referencesIn(cell).some((one) => one !== cell)
    each({
      row: n,
      says,
      references: referencesIn(row.join(' ')),
      code: null,
      reason: bankWords(row.find(isWhy)) || null,
      account: accountIn(row) || null,
      day: dayOf(dayIn(row), format.isMonthFirst ?? isShown),
      stated: signed.map((one) => ({ ...one, amount: one.amount.replace('-', '') })),
    })
  }
  return format.name
}
