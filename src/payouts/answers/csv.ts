import { eachCsvRow } from '../../platform/money/csv.ts'
import { minorDigits } from '../../platform/money/minor-digits.ts'
import { readAmount } from '../../platform/money/typed.ts'
import { maskNumbers } from '../../platform/validation/mask-numbers.ts'
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

/** What a file calls some of its columns, as a person has chosen: nobody foresaw these words. */
export type Chosen = { readonly [Name in 'day' | 'amount' | 'out' | 'in' | 'currency']?: string }

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

/** Returns a function that finds the place of a column among headings: a chosen one first. */
const finderIn = (headings: readonly string[], chosen: Chosen) => {
  const plain = headings.map((one) => one.replace(OF_HEADING, ''))
  return (column: Column): number | undefined =>
    [
      Object.entries(chosen).flatMap(([name, word]) => (name === column ? word : [])),
      COLUMNS[column],
    ]
      .flatMap((words) =>
        [headings, plain].flatMap((all) => words.map((word) => all.indexOf(keyOf(word)))),
      )
      .find((place) => place >= 0)
}

const MISSING = {
  day: 'booking days, such as “Booking date” or “Buchungstag”',
  amount: 'amounts, such as “Amount” or “Betrag”',
} as const

/** How many columns of a file a refusal names, and how much of each. */
const NAMED = 30

/** Returns the error of a file whose columns are not known: what is missing, and what there is to choose from. */
function unknownColumns(headings: readonly string[], missing: readonly (keyof typeof MISSING)[]) {
  const words = missing.map((name) => MISSING[name]).join(', and none of ')
  const names = headings.map((one) => maskNumbers(one.replaceAll('"', '').trim()).slice(0, NAMED))
  const own = names.filter(Boolean).slice(0, NAMED)
  return refused(
    `The CSV has no column of ${words}. Its columns are ${own.map((one) => `“${one}”`).join(', ')}. Choose them.`,
  )
}

/** Finds the line with the headings: where it begins, and how many stand above it. Null: the text has no columns. */
function findHeadings(text: string, chosen: Chosen) {
  let at = 0
  let best = { headings: [] as string[], missing: ['day', 'amount'] as (keyof typeof MISSING)[] }
  for (const [above, line] of text.slice(0, MAX_ABOVE).split('\n').entries()) {
    const headings = line.split(/[,;\t]/)
    const find = finderIn(headings.map(keyOf), chosen)
    const hasAmount = find('amount') ?? find('out') ?? find('in')
    const missing = [
      ...(find('day') === undefined ? (['day'] as const) : []),
      ...(hasAmount === undefined ? (['amount'] as const) : []),
    ]
    if (missing.length === 0) return { at, above }
    const isBetter = missing.length - best.missing.length || best.headings.length - headings.length
    if (isBetter < 0) best = { headings, missing }
    at += line.length + 1
  }
  if (best.headings.length > 2 || best.missing.length < 2)
    throw unknownColumns(best.headings, best.missing)
  return null
}

/** What a person says of a CSV: what stands first in its days, and what it calls some of its columns. */
export interface CsvHints {
  readonly order?: DayOrder | undefined
  readonly chosen?: Chosen
}

/** Returns a cell with an amount other than 0; some banks fill both columns of a movement. */
const movedIn = (cell: string) => (/[1-9]/.test(cell) ? cell : '')

/**
 * Reads the rows of a CSV. Returns false if its headings are not known.
 *
 * @throws ApiError `validation_failed` if a column is missing.
 */
export function readAnswerCsv(
  text: string,
  each: EachRow,
  { order, chosen = {} }: CsvHints,
): boolean {
  const begin = findHeadings(text, chosen)
  if (!begin) return false
  const rows = eachCsvRow(text.slice(begin.at))
  const headings = (rows.next().value ?? []).map(keyOf)
  const names = Object.keys(COLUMNS) as Column[]
  const find = finderIn(headings, chosen)
  const places = new Map(names.map((name) => [name, find(name)] as const))
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
