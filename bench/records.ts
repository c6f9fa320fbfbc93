import { fractions } from '../scripts/dev/fractions.ts'
import { DAY_MS } from '../src/durations.ts'

/** A forex transaction, as a partner sends it. */
export interface Transaction {
  transaction_id: string
  customer_id: string
  transaction_type: string
  amount_currency: number
  currency: string
  transaction_date: string
  status: string
  transaction_subtype: string
}

/** The records of one request, and its body. */
export interface Bulk {
  records: Transaction[]
  body: string
}

/** The contract: records per request at most. */
export const PER_BULK = 1000

/** The customers of all transactions. */
export const CUSTOMERS = Array.from({ length: 300 }, (_, i) => `CU-${10_001 + i}`)

const TYPES = ['deposit', 'deposit', 'deposit', 'withdrawal', 'withdrawal', 'bonus', 'ib_rebate']
const SUBTYPES = ['credit_card', 'bank_wire', 'e_wallet', 'crypto_usdt']
const CURRENCIES = ['EUR', 'USD', 'USD', 'GBP', 'JPY', 'AUD']
const FIRST_DAY = Date.UTC(2026, 8, 1)
const MONTH_MS = 30 * DAY_MS

/** Makes bulks of new transactions in one month, always the same ones. */
export function newBulks(count: number, size: number): Bulk[] {
  const random = fractions(20_260_901)
  const one = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)]!
  return Array.from({ length: count }, (_, bulk) =>
    toBulk(
      Array.from({ length: size }, (_, i) => ({
        transaction_id: `TX-${100_000_000 + bulk * size + i}`,
        customer_id: one(CUSTOMERS),
        transaction_type: one(TYPES),
        amount_currency: Math.round(random() ** 3 * 2_500_000) / 100,
        currency: one(CURRENCIES),
        transaction_date: new Date(FIRST_DAY + Math.floor(random() * MONTH_MS)).toISOString(),
        status: 'pending',
        transaction_subtype: one(SUBTYPES),
      })),
    ),
  )
}

/** Returns the same records with another status. Customer and day stay the same. */
export const withStatus = (status: string, bulks: readonly Bulk[]): Bulk[] =>
  bulks.map(({ records }) => toBulk(records.map((record) => ({ ...record, status }))))

const toBulk = (records: Transaction[]): Bulk => ({ records, body: JSON.stringify(records) })
