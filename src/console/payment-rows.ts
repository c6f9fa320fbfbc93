import { readCsv } from '../commission/csv.ts'
import { minorDigits } from '../commission/minor-digits.ts'
import { ApiError } from '../errors.ts'
import type { FieldError, Values } from './page.ts'
import { readAmount, readDay, type Typed } from './typed.ts'

// The payments that a member ticks, or uploads as a file.

/** What is paid to an affiliate in a currency. The amount is a decimal. */
export interface PaymentRow {
  readonly affiliate_id: string
  readonly currency: string
  readonly amount: string
  readonly reference: string
  /** The day of the payment (`YYYY-MM-DD`); absent while it is due. */
  readonly paid_on?: string
  readonly returned_on?: string
  readonly reason?: string
}

/** The most rows that a page of payouts lists, each with a tick box. */
export const MAX_TICKS = 200

/** Returns the name of a tick box by its position in the list. */
export const tickName = (position: number): string => `tick${position}`

const TICKED = ['affiliate_id', 'currency', 'amount', 'reference', 'paid_on'] as const

/** Returns the value of the tick box of a row: what the member saw, so that a change is noticed. */
export const tickValue = (row: PaymentRow): string =>
  JSON.stringify(TICKED.map((name) => row[name] ?? ''))

/** Returns the rows that a form has ticked. */
export function readTicks(values: Values): PaymentRow[] {
  return Array.from({ length: MAX_TICKS }, (_, i) => values(tickName(i))).flatMap((text) => {
    const cells = parseTick(text)
    if (!cells) return []
    const [affiliate_id = '', currency = '', amount = '', reference = '', paid_on = ''] = cells
    return [{ affiliate_id, currency, amount, reference, ...(paid_on && { paid_on }) }]
  })
}

function parseTick(text: string): string[] | null {
  try {
    const cells: unknown = JSON.parse(text)
    return Array.isArray(cells) ? cells.map(String) : null
  } catch {
    return null
  }
}

/**
 * Returns the rows that a form has ticked, at least one.
 *
 * @throws ApiError `validation_failed` if none is ticked.
 */
export function requireTicks(values: Values): PaymentRow[] {
  const rows = readTicks(values)
  if (rows.length > 0) return rows
  throw refused('Tick at least one row.', [])
}

/** Returns the error of rows that cannot be sent: nothing was sent. */
const refused = (detail: string, errors: readonly FieldError[]) =>
  new ApiError('validation_failed', { detail, errors: errors.map((one) => ({ ...one })) })

/** The columns of a file of payments, with what members call them. */
export const COLUMNS = {
  affiliate_id: 'Affiliate',
  currency: 'Currency',
  amount: 'Amount',
  reference: 'Reference',
  paid_on: 'Day of the payment',
  returned_on: 'Day of the return',
  reason: 'Reason of the return',
} as const

type ColumnName = keyof typeof COLUMNS

/** Other names that files have for columns. */
const ALIASES: Readonly<Record<string, ColumnName>> = {
  affiliate: 'affiliate_id',
  ib: 'affiliate_id',
  payment_reference: 'reference',
  date: 'paid_on',
  paid: 'paid_on',
  payment_date: 'paid_on',
  day_of_the_payment: 'paid_on',
  return_date: 'returned_on',
}

const REQUIRED = ['affiliate_id', 'currency', 'amount', 'reference'] as const

/** Returns the name of the field that says which column of the file has a column's values. */
export const mappedName = (name: ColumnName): string => `column_${name}`

/** A file of payments: its header, its other rows, and which of its columns has which values. */
interface PaymentFile {
  readonly header: readonly string[]
  readonly rows: readonly (readonly string[])[]
  readonly positions: ReadonlyMap<ColumnName, number>
  /** The columns that it must have and does not name. */
  readonly unnamed: readonly ColumnName[]
  /** Those of them for which the form names no other column of the file. */
  readonly missing: readonly ColumnName[]
  /** Why it cannot be read; null if it can. */
  readonly fault: string | null
}

const isColumn = (name: string): name is ColumnName => Object.hasOwn(COLUMNS, name)

function columnOf(title: string): ColumnName | undefined {
  const name = title
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_')
  return isColumn(name) ? name : Object.hasOwn(ALIASES, name) ? ALIASES[name] : undefined
}

/** Returns the text of the file of a form: the file that was chosen, else the rows that were pasted. */
export const fileText = (values: Values): string => values('file') || values('csv')

/** Reads the file of a form. Columns that payments do not have are left out. */
export function readPaymentFile(values: Values): PaymentFile {
  const { rows: all, fault } = readCsv(fileText(values))
  const [header = [], ...rows] = all ?? []
  const positions = new Map<ColumnName, number>()
  for (const [i, title] of header.entries()) {
    const name = columnOf(title)
    if (name && !positions.has(name)) positions.set(name, i)
  }
  const unnamed = REQUIRED.filter((name) => !positions.has(name))
  for (const name of unnamed) {
    const chosen = values(mappedName(name))
    if (/^\d{1,3}$/.test(chosen) && Number(chosen) < header.length) {
      positions.set(name, Number(chosen))
    }
  }
  const missing = REQUIRED.filter((name) => !positions.has(name))
  const place = fault && `The file is not valid CSV: line ${fault.line} has ${fault.reason}.`
  return { header, rows, positions, unnamed, missing, fault: place }
}

const NOTHING = 'Nothing was recorded.'

/**
 * Returns the payments of the file of a form. `day` of the form is the day of the payments without one.
 *
 * @throws ApiError `validation_failed` for a file that cannot be understood.
 */
export function readPayments(values: Values): PaymentRow[] {
  const { header, rows, positions, missing, fault } = readPaymentFile(values)
  if (fault) throw refused(fault, [])
  if (header.length === 0) throw refused('Choose the file that the bank has answered.', [])
  if (missing.length > 0) {
    const names = missing.map((name) => `“${COLUMNS[name]}”`).join(', ')
    throw refused(
      `The file has no column ${names}. Say below which of its columns that is. ${NOTHING}`,
      [],
    )
  }
  if (rows.length === 0) throw refused('The file has a header, but no rows.', [])
  const problems: FieldError[] = []
  const payments = rows.map((cells, i) => {
    const cell = (name: ColumnName) => (cells[positions.get(name) ?? -1] ?? '').trim()
    const understood = (read: Typed): string => {
      if ('value' in read) return read.value
      problems.push({ pointer: `/${i}`, message: read.problem })
      return ''
    }
    const currency = cell('currency').toUpperCase()
    const paid = cell('paid_on') || values('day')
    if (paid === '') {
      problems.push({ pointer: `/${i}`, message: 'The day of the payment is missing.' })
    }
    const returned = cell('returned_on')
    return {
      affiliate_id: cell('affiliate_id'),
      currency,
      amount: understood(readAmount(cell('amount'), minorDigits(currency))),
      reference: cell('reference'),
      ...(paid && { paid_on: understood(readDay(paid)) }),
      ...(returned && { returned_on: understood(readDay(returned)) }),
      ...(cell('reason') && { reason: cell('reason') }),
    }
  })
  if (problems.length > 0) throw refused(NOTHING, problems)
  return payments
}
