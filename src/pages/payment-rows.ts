import type { Values } from './base/page.ts'
import { refused } from './csv-columns.ts'

// The payments that a member ticks.

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
