import { getTableColumns, getTableName } from 'drizzle-orm'
import { getTableConfig, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import { activity, customers, events, transactions } from '../schema.ts'
import { augmented, type Merge, replaced, replacedOnItsDay } from './merge.ts'

/** How the records of one table are kept: all that the statements that write them must know. */
export interface RecordTable {
  readonly table: string
  /** What tells one record of an account from another. */
  readonly key: readonly string[]
  /** All that a record says, key and day included. */
  readonly columns: readonly string[]
  /** The columns, key aside, that an index holds: they change in a statement of their own. */
  readonly indexed: readonly string[]
  /** The columns that are kept, but make no version differ from another. */
  readonly silent: readonly string[]
  /** The column that names something which must be known, and where that is known. */
  readonly refers: {
    readonly column: string
    readonly table: 'customers' | 'affiliates'
  } | null
  /** The column that grows with each re-send, and what it may grow to, in bytes. */
  readonly grows: { readonly column: string; readonly max: number } | null
  /** The column by which an older version is told from a newer one. */
  readonly version: string | null
  /** What a re-send makes of what is stored. */
  readonly merge: Merge
  /** Whether a record can wait here for its customer. */
  readonly holds: boolean
  /** The column that holds a record's day. */
  readonly day: string
  /** Whether a record may say no day: its day is then the one on which it was first received. */
  readonly undated: boolean
  /** The columns that are empty for good once the customer is erased. */
  readonly personal: readonly string[]
  /** Whether the sender is told where the stored customer came from if the record does not say it. */
  readonly asksVerdict: boolean
  /** The indexes by which records are found, where the key does not serve. */
  readonly indexes: { readonly customer: string | null; readonly day: string | null }
  /** The tables whose records wait for a record of this one, and as which resource they are known. */
  readonly releases: readonly {
    readonly table: string
    readonly key: readonly string[]
    readonly resource: string
  }[]
}

/** What we add to a record; the sender never says it. */
const ADDED = ['account', 'held', 'delivery', 'idx', 'revision']

/** What brands alone say of their customers, and what both do; all else partners alone say. */
const BRAND_ONLY = ['regtime', 'extras', 'first_day']
const SHARED = [
  'customer_id',
  'signup_date',
  'tracking_data',
  'country_code',
  'first_name',
  'last_name',
  'day',
  'verdict',
  'link',
]
const PARTNER_ONLY = Object.keys(getTableColumns(customers)).filter(
  (name) => ![...BRAND_ONLY, ...SHARED].includes(name),
)

/** The columns of an account's primary key, less the account. */
export const keyOf = (table: SQLiteTable) =>
  getTableConfig(table)
    .primaryKeys[0]!.columns.map(({ name }) => name)
    .slice(1)

function shelf(
  table: SQLiteTable,
  own: Pick<RecordTable, 'indexed' | 'refers'> & Partial<RecordTable>,
  foreign: readonly string[] = [],
): RecordTable {
  const columns = Object.keys(getTableColumns(table))
  return {
    table: getTableName(table),
    key: keyOf(table),
    columns: columns.filter((name) => !ADDED.includes(name) && !foreign.includes(name)),
    silent: [],
    grows: null,
    version: null,
    merge: replaced,
    day: 'day',
    undated: false,
    personal: [],
    asksVerdict: false,
    indexes: { customer: null, day: null },
    holds: columns.includes('held'),
    releases: [],
    ...own,
  }
}

/** A table whose records wait for customers. */
const waiting = (table: SQLiteTable, resource: string) => ({
  table: getTableName(table),
  key: keyOf(table),
  resource,
})

/** What is stored of a customer's additional fields; far beyond what one record may bring. */
export const MAX_EXTRAS = 65_536

const customerIndexes = { indexed: ['day'], indexes: { customer: null, day: 'customers_day' } }

/** Customers of partners: they refer to who is paid for them, and others wait for them. */
export const partnerCustomerTable = shelf(
  customers,
  {
    ...customerIndexes,
    refers: { column: 'affiliate_id', table: 'affiliates' },
    version: 'last_modified_date',
    personal: ['first_name', 'last_name', 'email'],
    releases: [waiting(transactions, 'transactions'), waiting(activity, 'trading-activity')],
  },
  BRAND_ONLY,
)

/** Customers of brands: what a re-send leaves out is kept. */
export const brandCustomerTable = shelf(
  customers,
  {
    ...customerIndexes,
    refers: null,
    merge: augmented,
    silent: ['regtime'],
    undated: true,
    personal: ['first_name', 'last_name', 'extras'],
    grows: { column: 'extras', max: MAX_EXTRAS },
    asksVerdict: true,
    releases: [waiting(events, 'activities')],
  },
  PARTNER_ONLY,
)

/** Transactions: found by their id, their day and their customer. */
export const transactionTable = shelf(transactions, {
  indexed: ['customer_id', 'day'],
  indexes: { customer: 'transactions_customer', day: 'transactions_day' },
  refers: { column: 'customer_id', table: 'customers' },
})

/** Trading activity: day and customer are part of its key, so nothing of it ever moves. */
export const activityTable = shelf(activity, {
  indexed: [],
  day: 'date',
  indexes: { customer: 'activity_customer', day: null },
  refers: { column: 'customer_id', table: 'customers' },
})

/** Activity of brands: found by its identity, its day and its customer. */
export const eventTable = shelf(events, {
  indexed: ['customer_id', 'day'],
  silent: ['record'],
  merge: replacedOnItsDay,
  undated: true,
  indexes: { customer: 'events_customer', day: 'events_day' },
  refers: { column: 'customer_id', table: 'customers' },
})
