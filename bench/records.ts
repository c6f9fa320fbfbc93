import { fractions } from '../scripts/dev/fractions.ts'
import { DAY_MS } from '../src/durations.ts'

/** The contract: records per request at most. */
export const PER_BULK = 1000

/** The customers of all transactions. */
export const CUSTOMERS: readonly string[] = Array.from(
  { length: 300 },
  (_, i) => `CU-${10_001 + i}`,
)

const TYPES = ['deposit', 'deposit', 'deposit', 'withdrawal', 'withdrawal', 'bonus', 'ib_rebate']
const SUBTYPES = ['credit_card', 'bank_wire', 'e_wallet', 'crypto_usdt']
const CURRENCIES = ['EUR', 'USD', 'USD', 'GBP', 'JPY', 'AUD']
const FIRST_DAY = Date.UTC(2026, 8, 1)

/** A forex transaction without its status. */
export type Unsettled = ReturnType<typeof newBulks>[number][number]

/** Makes bulks of new transactions in one month, always the same ones. */
export function newBulks(count: number, size: number) {
  const random = fractions(20_260_901)
  const one = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)]!
  return Array.from({ length: count }, (_, bulk) =>
    Array.from({ length: size }, (_, i) => ({
      transaction_id: `TX-${100_000_000 + bulk * size + i}`,
      customer_id: one(CUSTOMERS),
      transaction_type: one(TYPES),
      amount_currency: Math.round(random() ** 3 * 2_500_000) / 100,
      currency: one(CURRENCIES),
      transaction_date: new Date(FIRST_DAY + Math.floor(random() * 30 * DAY_MS)).toISOString(),
      transaction_subtype: one(SUBTYPES),
    })),
  )
}

/** Returns the body of a request that sends records with a status. */
export const bodyOf = (records: readonly Unsettled[], status: string): string =>
  JSON.stringify(records.map((record) => ({ ...record, status })))
