import { AFFILIATE } from '../chaos/parties.ts'
import { DAY_MS } from '../src/platform/durations.ts'

/** The contract: records per request at most. */
export const PER_BULK = 1000

/** The month of all records. */
export const PERIOD = '2026-03'
export const FIRST_DAY = `${PERIOD}-01`
export const LAST_DAY = `${PERIOD}-31`
const DAYS = 31

/** What records depend on besides their number. */
export interface Draw {
  /** How many customers there are. The records of each are scattered. */
  readonly customers: number
  /** Whether a record is sent again with a change; customer and day stay the same. */
  readonly isChanged?: boolean
  readonly affiliateOf?: (customer: number) => string
}

/** A sender's bulk has the records of one day. */
const timeOf = (n: number) => {
  const day = Math.floor(n / PER_BULK) % DAYS
  return new Date(Date.parse(FIRST_DAY) + day * DAY_MS + 30_600_000 + (n % PER_BULK)).toISOString()
}
const customerId = (n: number) => `CU-${String(n).padStart(6, '0')}`
const one = (list: readonly string[], n: number) => list[n % list.length]!

/** A customer trades on every fourth day; a bulk has the records of one day. */
const tradingDay = (n: number, customers: number) =>
  4 * Math.floor(n / customers) + (Math.floor((n % customers) / PER_BULK) % 4)

/** Make records of a forex firm by number, always the same ones. */
export const RECORDS = {
  customers: (n: number, { isChanged, affiliateOf }: Draw) => ({
    customer_id: customerId(n),
    signup_date: timeOf(n),
    last_modified_date: `${LAST_DAY}T08:30:00.000Z`,
    ...{ affiliate_id: affiliateOf?.(n) ?? AFFILIATE, tracking_data: 'click-42' },
    ...{ country_code: one(['DE', 'AT', 'DE'], n), trading_account_type: 'live' },
    email: `${isChanged ? 'new' : 'c'}-${n}@example.com`,
  }),
  transactions: (n: number, { isChanged, customers }: Draw) => ({
    transaction_id: `TX-${100_000_000 + n}`,
    customer_id: customerId((n * 7919) % customers),
    transaction_type: one(['deposit', 'deposit', 'withdrawal'], n),
    amount_currency: (((n * 7919) % 89_989) + (n % 3 < 2 ? 50_000 : 1000)) / 100,
    currency: one(['EUR', 'USD', 'GBP', 'CZK'], n),
    transaction_date: timeOf(n),
    status: isChanged ? 'approved' : 'pending',
    transaction_subtype: one(['credit_card', 'bank_wire', 'e_wallet'], n),
  }),
  'trading-activity': (n: number, { isChanged, customers }: Draw) => ({
    date: timeOf(PER_BULK * tradingDay(n, customers)).slice(0, 10),
    customer_id: customerId(n % customers),
    ...{ instrument: one(['EURUSD', 'XAUUSD'], n), currency: one(['EUR', 'USD'], n) },
    lots_traded: ((n % 100) + (isChanged ? 2 : 1)) / 100,
    pnl: ((n % 40_001) - 20_000) / 100,
    ...{ spread_cost: (500 + (n % 1501)) / 25, commission: (n % 701) / 100 },
  }),
}

/** A transaction as a partner sends it. */
export type Transaction = ReturnType<(typeof RECORDS)['transactions']>

/** Makes bulks of new records. */
export function* newBulks(resource: keyof typeof RECORDS, count: number, draw: Draw) {
  for (let first = 0; first < count; first += PER_BULK) {
    const length = Math.min(PER_BULK, count - first)
    yield Array.from({ length }, (_, i) => RECORDS[resource](first + i, draw))
  }
}
