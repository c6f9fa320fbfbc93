import { minorDigits } from '../commission/minor-digits.ts'
import { readAmount, readDay, type Typed } from '../commission/typed.ts'
import { cellOf, readColumnFile, refused } from './csv-columns.ts'
import type { FieldError, Values } from './page.ts'

// The payments that a member ticks, or uploads as a file.

/** What is paid to an affiliate in a currency. The amount is a decimal. */
export interface PaymentRow {
  readonly affiliate_id: string
  readonly currency: string
  readonly amount: string
  readonly reference: string
  /** The day of the payment (`YYYY-MM-DD`); absent while it is due. */
  readonly paid_on?: string
}

/** The most rows of a page of payouts that have a tick box. */
export const MAX_TICKS = 500

/** Returns the name of a tick box by its position in the list. */
export const tickName = (position: number): string => `tick${position}`

const TICKED = ['affiliate_id', 'currency', 'amount', 'reference'] as const

/** What a tick box stands for. The reference is null if all of the payout is held. */
export type Ticked = Pick<PaymentRow, 'affiliate_id' | 'currency' | 'amount'> & {
  readonly reference?: string | null
}

/** Returns the value of the tick box of a row: what the member saw, so that a change is noticed. */
export const tickValue = (row: Ticked): string =>
  JSON.stringify(TICKED.map((name) => row[name] ?? ''))

/** Returns the rows that a form has ticked. */
export function readTicks(values: Values): PaymentRow[] {
  return Array.from({ length: MAX_TICKS }, (_, i) => values(tickName(i))).flatMap((text) => {
    const cells = parseTick(text)
    if (!cells) return []
    const [affiliate_id = '', currency = '', amount = '', reference = ''] = cells
    return [{ affiliate_id, currency, amount, reference }]
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
  throw refused('Tick at least one row.')
}

/** The columns of a file of payments, with what members call them. */
const COLUMNS = {
  affiliate_id: 'Affiliate',
  currency: 'Currency',
  amount: 'Amount',
  reference: 'Reference',
  paid_on: 'Day of the payment',
} as const

type ColumnName = keyof typeof COLUMNS

const readFile = (values: Values) =>
  readColumnFile(values, {
    titles: COLUMNS,
    synonyms: {
      affiliate_id: ['ib'],
      reference: ['payment reference'],
      paid_on: ['date', 'paid', 'payment date'],
    },
    required: ['affiliate_id', 'currency', 'amount', 'reference'],
  })

const NOTHING = 'Nothing was recorded.'

/**
 * Returns the payments of the file of a form. `day` of the form is the day of the payments without one.
 *
 * @throws ApiError `validation_failed` for a file that cannot be understood.
 */
export function readPayments(values: Values): (PaymentRow & { readonly paid_on: string })[] {
  const file = readFile(values)
  const { rows, fault } = file
  if (fault) throw refused(`${fault} ${NOTHING}`)
  if (values('day') === '' && rows.every((cells) => cellOf(file, cells, 'paid_on') === '')) {
    const message = 'Choose the day: no row of the file has one.'
    throw refused(NOTHING, [{ pointer: '/day', message }])
  }
  const problems: FieldError[] = []
  const payments = rows.map((cells, i) => {
    const cell = (name: ColumnName) => cellOf(file, cells, name)
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
    return {
      affiliate_id: cell('affiliate_id'),
      currency,
      amount: understood(readAmount(cell('amount'), minorDigits(currency))),
      reference: cell('reference'),
      paid_on: paid && understood(readDay(paid)),
    }
  })
  if (problems.length > 0) throw refused(NOTHING, problems)
  return payments
}
