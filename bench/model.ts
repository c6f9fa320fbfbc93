import { PLANNED_BYTES } from '../src/ingest/db/storage.ts'
import { format, type Table } from './print.ts'

// What an expected load costs in a month and how many databases it needs, on paper. The figures of records are
// those that `cost.ts` measures, the ones of a morning those of `months.ts`.

/** The rows that a new record of each kind writes at least: itself, and each entry of an index. */
export const ROWS_WRITTEN = { customers: 3, transactions: 2, 'trading-activity': 1 } as const

/** The rows that a delivery writes besides its records. */
export const DELIVERY_ROWS_WRITTEN = 4
/** The rows that a click writes. */
export const CLICK_ROWS_WRITTEN = 1
const RECORD_ROWS_READ = 10
const CLICK_ROWS_READ = 3.53

/** The rows that a morning reads, run and rules, of each fact of a year: `months.ts` measures the last day of a month. */
const MORNING_ROWS_READ = 0.8
/** The rows that the run of an account writes. */
const RUN_ROWS_WRITTEN = 11

/** The bytes of a row with its entries of indexes, of ids that are UUIDs. */
const BYTES = { customers: 281, transactions: 220, 'trading-activity': 119 } as const
const DELIVERY_BYTES = 440
const CLICK_BYTES = 200

/** Of the records of a year. 20 % are sent again with a change, and 20 % without one. */
const SHARES = { customers: 0.05, transactions: 0.45, 'trading-activity': 0.5 } as const
const UPDATES = 0.2
const REPLAYS = 0.2
const PER_DELIVERY = 100
const CLICKS_PER_CUSTOMER = 10

/** Messages of a database in a day: one a minute, and two an hour. Of an account: its morning, and its part of others. */
const DATABASE_MESSAGES = 24 * 60 + 24 * 2
const ACCOUNT_MESSAGES = 1 + (24 * 6 + 1) / 50
/** A message of a queue is written, read and deleted. */
const OPERATIONS = 3

const MONTHS = 12
const DAYS = 365 / MONTHS
/** The days that clicks and the log of deliveries are kept. */
const KEPT_DAYS = 30

/**
 * The prices of a million in US dollars on Workers Paid, and the millions a month that the plan includes, as of
 * 2026-11-20 in Cloudflare's documentation.
 *
 * @see https://developers.cloudflare.com/workers/platform/pricing/ requests, CPU
 * @see https://developers.cloudflare.com/durable-objects/platform/pricing/ a call is a request; 128 MB are
 * billed for as long as an object cannot hibernate, which is 5 s after a request
 * @see https://developers.cloudflare.com/d1/platform/pricing/ an entry of an index is a row more
 * @see https://developers.cloudflare.com/queues/platform/pricing/
 */
const PRICES = {
  'Worker requests': { perMillion: 0.3, included: 10 },
  'CPU-ms': { perMillion: 0.02, included: 30 },
  'object requests': { perMillion: 0.15, included: 1 },
  'object GB-s': { perMillion: 12.5, included: 0.4 },
  'object rows written': { perMillion: 1, included: 50 },
  'D1 rows read': { perMillion: 0.001, included: 25_000 },
  'D1 rows written': { perMillion: 1, included: 50 },
  'queue operations': { perMillion: 0.4, included: 1 },
} as const

/** A meter of the platform. */
export type Meter = keyof typeof PRICES

/** In US dollars a month: the plan, and a GB in D1 beyond the included ones. */
const PLAN_FEE = 5
const STORED_GB = { price: 0.75, included: 5 }

/** The accounts of an installation, and the records that they send in a year, each counted once. */
export interface Size {
  readonly accounts: number
  readonly records: number
}

const SIZES: readonly Size[] = [
  { accounts: 10, records: 1e6 },
  { accounts: 1000, records: 100e6 },
  { accounts: 10_000, records: 1e9 },
  { accounts: 100_000, records: 10e9 },
]

/** What a size needs at the end of its first year, and what it uses in a month. */
export interface Needs {
  readonly bytes: number
  readonly databases: number
  readonly monthly: Readonly<Record<Meter, number>>
  readonly dollars: number
}

/** Returns the sum of a figure of each kind of record, weighted by its share. */
const ofMix = (figures: Readonly<Record<keyof typeof SHARES, number>>): number =>
  Object.entries(SHARES).reduce(
    (sum, [kind, share]) => sum + share * figures[kind as keyof typeof SHARES],
    0,
  )

/** Computes what a size needs. Every account has all fraud rules. */
export function needsOf({ accounts, records }: Size): Needs {
  const month = records / MONTHS
  const sent = month * (1 + UPDATES + REPLAYS)
  const deliveries = sent / PER_DELIVERY
  const clicks = month * SHARES.customers * CLICKS_PER_CUSTOMER
  const facts = month * (1 - SHARES.customers)
  const bytes =
    records * ofMix(BYTES) +
    ((deliveries * DELIVERY_BYTES + clicks * CLICK_BYTES) * KEPT_DAYS) / DAYS
  const databases = Math.ceil(bytes / PLANNED_BYTES)
  const messages = (databases * DATABASE_MESSAGES + accounts * ACCOUNT_MESSAGES) * DAYS
  const morning = facts * MONTHS * MORNING_ROWS_READ
  const monthly = {
    'Worker requests': deliveries + clicks,
    'CPU-ms': sent * 0.02 + deliveries + clicks,
    'object requests': deliveries,
    'object GB-s': deliveries * 0.128 * 5,
    'object rows written': deliveries * 0.2,
    'D1 rows read': sent * RECORD_ROWS_READ + clicks * CLICK_ROWS_READ + morning * DAYS,
    'D1 rows written':
      month * ofMix(ROWS_WRITTEN) +
      month * UPDATES +
      deliveries * DELIVERY_ROWS_WRITTEN +
      clicks * CLICK_ROWS_WRITTEN +
      accounts * DAYS * RUN_ROWS_WRITTEN,
    'queue operations': (clicks + messages) * OPERATIONS,
  }
  const billed = Object.entries(monthly).reduce((sum, [meter, used]) => {
    const { perMillion, included } = PRICES[meter as Meter]
    return sum + Math.max(0, used / 1e6 - included) * perMillion
  }, 0)
  const storage = Math.max(0, bytes / 1e9 - STORED_GB.included) * STORED_GB.price
  return { bytes, databases, monthly, dollars: PLAN_FEE + billed + storage }
}

/** Returns the table of the sizes. */
export function modelTable(): Table {
  const needs = SIZES.map((size) => ({ ...size, ...needsOf(size) }))
  const row = (title: string, cell: (one: Size & Needs) => string) => [title, ...needs.map(cell)]
  const short = (n: number) => format(n, n >= 100 ? 0 : 1)
  return [
    row('records a year', ({ records }) => format(records)),
    row('accounts', ({ accounts }) => format(accounts)),
    row('stored in D1 after a year, GB', ({ bytes }) => short(bytes / 1e9)),
    row('databases of 5 GB', ({ databases }) => format(databases)),
    ...(Object.keys(PRICES) as Meter[]).map((meter) =>
      row(`${meter}, millions a month`, ({ monthly }) => short(monthly[meter] / 1e6)),
    ),
    row('dollars a month', ({ dollars }) => `$${format(dollars)}`),
  ]
}

/** What the table assumes. */
export const ASSUMPTIONS = `Of the records ${SHARES.customers * 100} % are customers, ${SHARES.transactions * 100} % transactions, ${SHARES['trading-activity'] * 100} % rows of daily activity; ${UPDATES * 100} % are sent again with a change, ${REPLAYS * 100} % without one. A delivery has ${PER_DELIVERY} records, a customer comes with ${CLICKS_PER_CUSTOMER} clicks, and every account has all fraud rules. Dollars are those of Workers Paid, with the plan's $${PLAN_FEE} and beyond what it includes; lists, reports, the console, exports and webhooks are not in them.`
