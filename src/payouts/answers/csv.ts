import { eachCsvRow } from '../../commission/csv.ts'
import { decimal, plainText, subtract } from '../../commission/engine/decimal.ts'
import { minorDigits } from '../../commission/minor-digits.ts'
import { readAmount, readDay } from '../../commission/typed.ts'
import { type AnswerRow, type EachRow, EMPTY_ROW, type Says, type Stated } from './row.ts'

// CSV of banks and payment services. A known one is found by its headings. The columns of another one are chosen.

/** Which columns of a CSV say what, by their headings. */
export interface CsvFormat {
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
  /** Whether amounts may lack signs: then they are read only if a debit of the file has one. */
  readonly isUnsure?: true
  /** All rows are payments. */
  readonly isPaid?: true
  readonly isMonthFirst?: boolean
}

/** What the state is of a row that is booked, and of one that failed or came back. Others are pending. */
const BOOKED = /^(?:completed|sent|received|abgeschlossen|umsatz gebucht)/i
const FAILED =
  /fail|refund|revert|declin|cancel|return|denied|reversed|unclaimed|erstattet|storniert/i

/** The files that are known. */
const FORMATS: readonly CsvFormat[] = [
  ...['Waehrung', 'Währung'].flatMap((currency) => {
    const german = { day: 'Buchungstag', state: 'Info', amounts: [['Betrag', currency] as const] }
    const account = 'Auftragskonto'
    return [
      { name: 'CSV-CAMT', mark: account, account, ...german },
      { name: 'CSV', ...german, isUnsure: true as const },
    ]
  }),
  {
    ...{ name: 'Wise', mark: 'TransferWise ID', day: 'Date', fee: 'Total fees' },
    amounts: [
      ['Amount', 'Currency'],
      ['Exchange To Amount', 'Exchange To'],
    ],
  },
  {
    ...{ name: 'Wise', day: 'Finished on', state: 'Status', direction: 'Direction' },
    amounts: ['Source', 'Target'].map(
      (of) => [`${of} amount (after fees)`, `${of} currency`] as const,
    ),
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
  { name: 'PayPal', day: 'Date', amounts: [['Gross', 'Currency']], state: 'Status' },
  { name: 'PayPal', day: 'Datum', amounts: [['Brutto', 'Währung']], state: 'Status' },
  { name: 'Tributary', day: 'paid_on', amounts: [['amount', 'currency']], isPaid: true },
]

/** Returns the letters of a heading, by which it is known. */
const keyOf = (heading: string) => heading.normalize('NFKC').toLowerCase().replaceAll(/\s+/g, '')

/** How many rows may stand above the headings: banks name the account and its balance there. */
const MAX_ABOVE = 30

/** Returns the headings that a file of a format has. */
const headingsOf = ({ day, amounts: [first], direction, mark }: CsvFormat) =>
  [day, ...(first ?? []), direction, mark].filter((one) => one != null)

/** A heading of amounts that are all debits, without a sign. */
const IS_DEBIT =
  /^(?!.*(?:credit|haben|gutschrift|paid in|money in)).*(?:debit|paid out|money out|withdraw|soll|belastung)/i

/** Reads an amount as a decimal with a sign, which may also stand behind it, as may a currency; null if it is none. */
function signedAmount(text: string, currency: string | null): string | null {
  const number = text.replaceAll(/[^\d.,'’\s+−–-]/g, '').replace(/^\s*\+/, '')
  const signed = number.trim().replace(/^(.*\d)\s*[−–-]$/, '-$1')
  const read = readAmount(signed, minorDigits(currency ?? 'EUR'))
  return 'value' in read ? read.value : null
}

/** The parts of a day, whatever stands between them. */
const DAY = /^(\d{1,2})[./-](\d{1,2})[./-](\d{4}|\d\d)\b/

/** Reads a day; null if it is none. A time may follow. */
export function dayOf(text: string, isMonthFirst: boolean): string | null {
  const [, first, second, year = ''] = DAY.exec(text) ?? []
  const [day, month] = isMonthFirst ? [second, first] : [first, second]
  const read = readDay(day ? `${day}.${month}.${year.padStart(4, '20')}` : text.slice(0, 10))
  return 'value' in read ? read.value : null
}

/** Returns whether a day has the month first: null if it may have either. */
function monthFirst(text: string): boolean | null {
  const [, first, second] = DAY.exec(text) ?? []
  return Number(first) > 12 ? false : Number(second) > 12 ? true : null
}

/** Where the rows of a CSV begin, and what its columns say. */
interface Found {
  readonly format: CsvFormat
  readonly above: number
  readonly cellOf: (row: readonly string[], heading: string | null | undefined) => string
}

/** Returns the columns that a person has chosen for the headings of a CSV; null if nobody has. */
export type Chosen = (headings: readonly string[]) => CsvFormat | null

/** Returns the format of a CSV; its headings if it is not known. */
function findFormat(text: string, chosen: Chosen): Found | { headings: readonly string[] } {
  const above: string[][] = []
  for (const row of eachCsvRow(text)) {
    const places = new Map(row.map((heading, i) => [keyOf(heading), i] as const).toReversed())
    const format =
      FORMATS.find((one) => headingsOf(one).every((heading) => places.has(keyOf(heading)))) ??
      chosen(row)
    const at = (heading: string) => places.get(keyOf(heading)) ?? -1
    if (format) {
      const cellOf: Found['cellOf'] = (cells, heading) =>
        heading == null ? '' : (cells[at(heading)] ?? '').trim()
      return { format, above: above.length + 1, cellOf }
    }
    if (above.push(row) === MAX_ABOVE) break
  }
  // The headings are the first row that has the most cells.
  const width = (row: readonly string[]) => row.filter(Boolean).length
  return { headings: above.toSorted((a, b) => width(b) - width(a))[0] ?? [] }
}

/** Reads the rows of a CSV. Returns the name of its format; its headings if its columns are not known. */
export function readAnswerCsv(
  text: string,
  chosen: Chosen,
  each: EachRow,
): string | { readonly headings: readonly string[] } {
  const found = findFormat(text, chosen)
  if ('headings' in found) return found
  const { format, above, cellOf } = found
  let isMonthFirst = format.isMonthFirst ?? null
  let hasDebit = !format.isUnsure
  for (const row of eachCsvRow(text)) {
    isMonthFirst ??= monthFirst(cellOf(row, format.day))
    hasDebit ||= rowOf(found, row, false).says === 'paid'
    if (isMonthFirst !== null && hasDebit) break
  }
  let n = 0
  for (const row of eachCsvRow(text)) {
    n += 1
    const read = n > above && rowOf(found, row, isMonthFirst ?? false)
    // Nobody knows whether an amount without a sign came or went.
    if (read) each({ ...read, row: n, ...(!hasDebit && { stated: [] }) })
  }
  return format.name
}

/** Reads one row. */
function rowOf({ format, cellOf }: Found, row: readonly string[], isMonthFirst: boolean) {
  const { amounts, fee, account, direction } = format
  const signed = amounts.flatMap(([name, of]) => {
    const currency = cellOf(row, of).toUpperCase() || null
    const amount = signedAmount(cellOf(row, name), currency)
    return amount === null ? [] : [{ amount, currency }]
  })
  const isDebit = direction
    ? /^out/i.test(cellOf(row, direction))
    : format.isPaid || IS_DEBIT.test(amounts[0]?.[0] ?? '') || signed[0]?.amount.startsWith('-')
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
    day: dayOf(cellOf(row, format.day), isMonthFirst),
  } satisfies Omit<AnswerRow, 'row'>
}
