import { eachCsvRow } from '../../commission/csv.ts'
import { decimal, plainText, subtract } from '../../commission/engine/decimal.ts'
import { minorDigits } from '../../commission/minor-digits.ts'
import { readAmount, readDay } from '../../commission/typed.ts'
import { type AnswerRow, type EachRow, EMPTY_ROW, type Says, type Stated } from './row.ts'

// CSV of banks and payment services. It is known by its headings.

/** Which columns of a CSV say what, by their headings. `|` stands between headings of the same column. */
interface CsvFormat {
  readonly name: string
  readonly day: string
  /** Pairs of an amount and its currency; null if that is the account's. Of all, the first has the sign. */
  readonly amounts: readonly (readonly [amount: string, currency: string | null])[]
  /** A heading that tells it from other files. */
  readonly mark?: string
  /** What the first amount has in it that the payee does not get. */
  readonly fee?: string
  readonly account?: string
  /** The column of the state. Empty: the row is booked. */
  readonly state?: string
  /** The column that says `OUT` or `IN`, where amounts have no sign. */
  readonly direction?: string
  /** All rows are payments. */
  readonly isPaid?: true
  /** Whether the month stands first in days; absent: the day does; null: a file shows it by a day after the 12th. */
  readonly isMonthFirst?: true | null
}

/** What the state is of a row that is booked, and of one that failed or came back. Others are pending. */
const BOOKED = /^(?:completed|sent|received|abgeschlossen|umsatz gebucht)/i
const FAILED =
  /fail|refund|revert|declin|cancel|return|denied|reversed|unclaimed|erstattet|storniert/i

/** The files that are known. */
const FORMATS: readonly CsvFormat[] = [
  {
    ...{ name: 'CSV-CAMT', day: 'Buchungstag', state: 'Info', account: 'Auftragskonto' },
    ...{ mark: 'Auftragskonto', amounts: [['Betrag', 'Waehrung|Währung']] },
  },
  {
    ...{ name: 'Wise', mark: 'TransferWise ID|Finished on', day: 'Date|Finished on' },
    ...{ fee: 'Total fees', state: 'Status', direction: 'Direction' },
    amounts: [
      ['Amount|Source amount (after fees)', 'Currency|Source currency'],
      ['Exchange To Amount|Target amount (after fees)', 'Exchange To|Target currency'],
    ],
  },
  {
    ...{ name: 'Revolut', day: 'Date completed (UTC)', state: 'State' },
    amounts: [
      ['Amount', 'Payment currency'],
      ['Orig amount', 'Orig currency'],
    ],
  },
  {
    ...{ name: 'Mercury', day: 'Date (UTC)', state: 'Status', isMonthFirst: true },
    amounts: [['Amount', null]],
  },
  {
    ...{ name: 'PayPal', day: 'Date|Datum', state: 'Status', isMonthFirst: null },
    amounts: [['Gross|Brutto', 'Currency|Währung']],
  },
  { name: 'Tributary', day: 'paid_on', amounts: [['amount', 'currency']], isPaid: true },
]

/** Returns the letters of a heading, by which it is known. */
const keyOf = (heading: string) => heading.normalize('NFKC').toLowerCase().replaceAll(/\s+/g, '')

/** Returns where a column stands among headings; -1 if it does not. */
const placeOf = (headings: readonly string[], column: string) =>
  headings.findIndex((heading) => column.split('|').some((one) => keyOf(one) === keyOf(heading)))

/** Returns the columns that a file of a format has. */
const columnsOf = ({ day, amounts: [first], mark }: CsvFormat) =>
  [day, ...(first ?? []), mark].filter((one) => one != null)

/** Reads an amount as a decimal with a sign; null if it is none. */
function signedAmount(text: string, currency: string | null): string | null {
  const read = readAmount(text, minorDigits(currency ?? 'EUR'))
  return 'value' in read ? read.value : null
}

/** The parts of a day, whatever stands between them. */
const DAY = /^(\d{1,2})[./-](\d{1,2})[./-](\d{4}|\d\d)\b/

/** A day with slashes at the beginning of a cell that is after the 12th, where the month or the day stands first. */
const MONTH_FIRST = /(?:^|[",])\d{1,2}\/(?:1[3-9]|2\d|3[01])\/\d{4}/m
const DAY_FIRST = /(?:^|[",])(?:1[3-9]|2\d|3[01])\/\d{1,2}\/\d{4}/m

/** Reads a day; null if it is none, or if it has slashes and nothing shows which number is the month. A time may follow. */
export function dayOf(text: string, isMonthFirst: boolean | null = false): string | null {
  if (isMonthFirst === null && text.includes('/')) return null
  const [, first, second, year = ''] = DAY.exec(text) ?? []
  const [day, month] = isMonthFirst && !text.includes('.') ? [second, first] : [first, second]
  const read = readDay(day ? `${day}.${month}.${year.padStart(4, '20')}` : text.slice(0, 10))
  return 'value' in read ? read.value : null
}

/** Returns the cell of a row in a column, without spaces around it. */
type CellOf = (row: readonly string[], column: string | null | undefined) => string

/** Reads the rows of a CSV. Returns the name of its format; null if its headings are not known. */
export function readAnswerCsv(text: string, each: EachRow): string | null {
  const rows = eachCsvRow(text)
  const { value: headings = [] } = rows.next()
  const format = FORMATS.find((one) =>
    columnsOf(one).every((column) => placeOf(headings, column) >= 0),
  )
  if (!format) return null
  const places = new Map<string, number>()
  const cellOf: CellOf = (row, column) => {
    if (column == null) return ''
    const place = places.get(column) ?? placeOf(headings, column)
    places.set(column, place)
    return (row[place] ?? '').trim()
  }
  const isShown = MONTH_FIRST.test(text) === DAY_FIRST.test(text) ? null : MONTH_FIRST.test(text)
  const isMonthFirst = format.isMonthFirst === null ? isShown : format.isMonthFirst
  let n = 1
  for (const row of rows) {
    n += 1
    const day = dayOf(cellOf(row, format.day), isMonthFirst)
    each({ ...readRow(format, cellOf, row), day, row: n })
  }
  return format.name
}

function readRow(format: CsvFormat, cellOf: CellOf, row: readonly string[]) {
  const { amounts, fee, account, direction } = format
  const signed = amounts.flatMap(([name, of]) => {
    const currency = cellOf(row, of).toUpperCase() || null
    const amount = signedAmount(cellOf(row, name), currency)
    return amount === null ? [] : [{ amount, currency }]
  })
  const isDebit =
    format.isPaid || signed[0]?.amount.startsWith('-') || /^out/i.test(cellOf(row, direction))
  const stated = signed.map((one): Stated => ({ ...one, amount: one.amount.replace('-', '') }))
  const [first] = stated
  const feeOf = first && signedAmount(cellOf(row, fee), first.currency)
  const net = first && feeOf && plainText(subtract(decimal(first.amount), decimal(feeOf)))
  const state = cellOf(row, format.state)
  const moved: Says = isDebit ? 'paid' : 'returned'
  const says = !state || BOOKED.test(state) ? moved : FAILED.test(state) ? 'failed' : 'pending'
  return {
    ...{ ...EMPTY_ROW, says, text: row.join(' '), account: cellOf(row, account) || null },
    stated: net ? [...stated, { ...first, amount: net }] : stated,
  } satisfies Omit<AnswerRow, 'row' | 'day'>
}
