import { eachCsvRow } from '../../platform/money/csv.ts'
import { minorDigits } from '../../platform/money/minor-digits.ts'
import { readAmount } from '../../platform/money/typed.ts'
import { referencesIn } from '../reference.ts'
import { type DayOrder, readDays } from './days.ts'
import { readWords } from './reasons.ts'
import { type EachRow, PLAIN_ROW, refused, type Says, type Stated, stated } from './row.ts'

// CSV of banks and payment services. It is read by its headings, whoever wrote it.

/** What banks and payment services call the columns that are read. Of a list, the first that is there counts. */
const COLUMNS = {
  day: [
    'paid_on',
    'Buchungstag',
    'Buchungsdatum',
    'Booking date',
    'Posting date',
    'Finished on',
    'Date completed (UTC)',
    'Date (UTC)',
    'Transaction date',
    'Date',
    'Datum',
  ],
  amount: ['Betrag', 'Amount', 'Source amount (after fees)', 'Gross', 'Brutto', 'Umsatz'],
  out: ['Soll', 'Debit', 'Debit amount', 'Paid out', 'Money out', 'Belastung'],
  in: ['Haben', 'Credit', 'Credit amount', 'Paid in', 'Money in', 'Gutschrift'],
  currency: ['Waehrung', 'Währung', 'Payment currency', 'Source currency', 'Currency'],
  account: ['Auftragskonto', 'IBAN Auftragskonto'],
  state: ['Info', 'Status', 'State'],
  // Some banks give it no heading.
  direction: [
    'Direction',
    'Debit/Credit',
    'Credit/Debit',
    'Dr/Cr',
    'Cr/Dr',
    'D/C',
    'C/D',
    'Soll/Haben',
    'S/H',
    'Balance Impact',
    '',
  ],
  reference: ['TransferWise ID', 'Transaction ID', 'Transaktionscode', 'ID'],
} as const

type Column = keyof typeof COLUMNS

/** What the state is of a row that is booked, and of one that failed or came back. Others are pending. */
const BOOKED = /^(?:completed|sent|received|booked|posted|abgeschlossen|(?:umsatz )?gebucht)/i
const FAILED =
  /^(?!.*(?:partial|teilweise)).*(?:fail|refund|revert|declin|cancel|return|denied|reversed|erstattet|storniert)/i

/** What a column of directions says of money that left: its amount may have no sign. */
const OUT = /^(?:out|d|dr|dbit|debit|s|soll)$/i

/** Returns the letters of a heading, by which it is known. */
const keyOf = (heading: string) =>
  heading
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[\s_"]+/g, '')

/** The currency that the heading of an amount names: `Betrag (EUR)`. */
const OF_HEADING = /\(?([a-z]{3})\)$/

/** How far down the headings may stand: some banks write the account and the period above them. */
const MAX_ABOVE = 20_000

const placeIn = (headings: readonly string[], column: Column) =>
  COLUMNS[column].map((word) => headings.indexOf(keyOf(word))).find((place) => place >= 0)

/** Finds the line with the headings: where it begins, and how many stand above it. Null: none has a day or an amount. */
function findHeadings(text: string) {
  let at = 0
  let partly: string | null = null
  for (const [above, line] of text.slice(0, MAX_ABOVE).split('\n').entries()) {
    const headings = line.split(/[,;\t]/).map(keyOf)
    const plain = headings.map((one) => one.replace(/\(?[a-z]{3}\)$/, ''))
    const has = (column: Column) => placeIn(headings, column) ?? placeIn(plain, column)
    const hasAmount = has('amount') ?? has('out')
    if (has('day') !== undefined && hasAmount !== undefined) return { at, above }
    if (has('day') !== undefined) partly ??= 'amounts, such as “Amount” or “Betrag”'
    if (hasAmount !== undefined) partly ??= 'booking days, such as “Booking date” or “Buchungstag”'
    at += line.length + 1
  }
  if (partly) throw refused(`The CSV has no column of ${partly}.`)
  return null
}

/** Returns a cell with an amount other than 0; some banks fill both columns of a movement. */
const movedIn = (cell: string) => (/[1-9]/.test(cell) ? cell : '')

/**
 * Reads the rows of a CSV. Returns false if its headings are not known.
 *
 * @throws ApiError `validation_failed` if a column is missing.
 */
export function readAnswerCsv(text: string, each: EachRow, order?: DayOrder): boolean {
  const begin = findHeadings(text)
  if (!begin) return false
  const rows = eachCsvRow(text.slice(begin.at))
  const headings = (rows.next().value ?? []).map(keyOf)
  const plain = headings.map((one) => one.replace(OF_HEADING, ''))
  const names = Object.keys(COLUMNS) as Column[]
  const places = new Map(
    names.map((name) => [name, placeIn(headings, name) ?? placeIn(plain, name)] as const),
  )
  const isOwnTable = headings[places.get('day') ?? -1] === keyOf('paid_on')
  const ofAll = OF_HEADING.exec(headings[places.get('amount') ?? -1] ?? '')?.[1]?.toUpperCase()
  let n = begin.above + 1
  for (const row of rows) {
    n += 1
    const cell = (name: Column) => row[places.get(name) ?? -1]?.trim() ?? ''
    const [out, back] = [movedIn(cell('out')), movedIn(cell('in'))]
    const currency =
      places.get('currency') === undefined ? (ofAll ?? null) : cell('currency').toUpperCase()
    const written = (out || back || cell('amount')).replaceAll(/[+€$£]|\s[A-Z]{3}$/g, '')
    const read = readAmount(written, minorDigits(currency || 'EUR'))
    const signed = 'value' in read && currency !== '' ? read.value : null
    const isNegative = signed?.startsWith('-') ?? false
    // In a table of payments, amounts are what was paid: a negative one came back.
    const isDebit = out ? true : isNegative !== isOwnTable || OUT.test(cell('direction'))
    const state = cell('state')
    const moved: Says = isDebit && !back ? 'paid' : 'returned'
    const isBooked = !state || BOOKED.test(state)
    const says = isBooked ? moved : FAILED.test(state) ? 'failed' : 'pending'
    const references = referencesIn(row.join(' '))
    // Beside a reference, a bank writes why the money is back.
    const isWhy = (one: string) => referencesIn(one).some((reference) => reference !== one)
    const why = says !== 'paid' && references.length > 0 ? row.find(isWhy) : undefined
    const amount: Stated | null = signed === null ? null : stated(signed.replace('-', ''), currency)
    each({
      ...PLAIN_ROW,
      row: n,
      says,
      never: says === 'pending' ? 'the bank has not booked it, or has undone it' : null,
      references,
      amount,
      days: readDays(cell('day'), order),
      account: cell('account') || null,
      bankReference: cell('reference') || null,
      reason: readWords(why) || null,
    })
  }
  return true
}
