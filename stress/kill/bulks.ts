import { AFFILIATE } from '../parties.ts'

/** The tables of the records that are sent, and the column that names the bulk of each record. */
export const TABLES = {
  customers: { resource: 'customers', mark: 'sales_status_id', held: '0' },
  transactions: { resource: 'transactions', mark: 'note', held: 'held' },
  events: { resource: 'activities', mark: "details ->> 'mark'", held: 'held' },
} as const

/** One request with many records, each of which names the bulk. */
export interface Bulk {
  readonly mark: string
  readonly table: keyof typeof TABLES
  readonly records: readonly Record<string, unknown>[]
  readonly headers: Record<string, string>
  /** The outcome of its records when they are first sent. */
  readonly outcome: 'created' | 'updated' | 'held'
  /** The bulk whose held records this one releases. That bulk must be answered first. */
  readonly frees: Bulk | null
  /** The bulk of which this one has changed versions. */
  readonly changes: Bulk | null
}

/** The day of all records. */
export const DAY = '2026-10-02'

/** The customer that exists from the start. */
export const KNOWN_CUSTOMER = 'C-known'

/** Makes a customer of a firm. */
export const customer = (customer_id: string) => ({
  customer_id,
  signup_date: `${DAY}T08:00:00.000Z`,
  affiliate_id: AFFILIATE,
  tracking_data: 'click-42',
})

/**
 * Makes the bulks of one round: new transactions, held ones and the customers that release them,
 * events with an `eventid` or an Idempotency-Key, and changes to what was new in the last round.
 */
export function bulksOf(
  round: number,
  size: number,
  before: readonly Bulk[],
  random: () => number,
) {
  const bulks: Bulk[] = []
  const amount = () => Math.floor(random() * 1_000_000) / 100
  const add = (
    own: Pick<Bulk, 'table' | 'outcome'> & Partial<Bulk>,
    make: (name: string, i: number) => Record<string, unknown>,
  ): Bulk => {
    const mark = `${round}-${bulks.length}`
    const marked = own.table === 'events' ? { mark } : { [TABLES[own.table].mark]: mark }
    const records = Array.from({ length: size }, (_, i) => ({
      ...make(`${mark}-${i}`, i),
      ...marked,
    }))
    bulks.push({ headers: {}, frees: null, changes: null, ...own, mark, records })
    return bulks.at(-1)!
  }
  const transaction = (customer_id: string, name: string) => ({
    transaction_id: `T-${name}`,
    customer_id,
    transaction_type: 'deposit',
    amount_currency: amount(),
    currency: 'EUR',
    transaction_date: `${DAY}T09:30:00.000Z`,
    status: 'pending',
  })
  const event = (eventid: string | null) => ({
    eventname: 'Deposit',
    customerid: KNOWN_CUSTOMER,
    createtime: `${DAY} 09:30`,
    Value: amount(),
    Currency: 'EUR',
    ...(eventid && { eventid }),
  })

  for (let n = 0; n < 3; n++) {
    add({ table: 'transactions', outcome: 'created' }, (name) => transaction(KNOWN_CUSTOMER, name))
    const stranger = (i: number) => `C-${round}-${n}-${i}`
    const held = { table: 'transactions', outcome: 'held' } as const
    const frees = add(held, (name, i) => transaction(stranger(i), name))
    add({ table: 'customers', outcome: 'created', frees }, (_, i) => customer(stranger(i)))
    add({ table: 'events', outcome: 'created' }, (name) => event(`E-${name}`))
    const headers = { 'Idempotency-Key': `K-${round}-${n}` }
    add({ table: 'events', outcome: 'created', headers }, () => event(null))
  }
  for (const changes of before) {
    if (changes.table !== 'transactions' || changes.outcome !== 'created') continue
    add({ table: 'transactions', outcome: 'updated', changes }, (_, i) => ({
      ...changes.records[i],
      status: 'approved',
      amount_currency: amount(),
    }))
  }
  return bulks
}
