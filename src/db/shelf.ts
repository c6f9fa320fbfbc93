import { getTableColumns, getTableName } from 'drizzle-orm'
import { getTableConfig, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import { activity, customers, transactions } from './tables.ts'

/** How the records of one table are kept: all that the statements that write them must know. */
export interface Shelf {
  readonly table: string
  /** What tells one record of an account from another. */
  readonly key: readonly string[]
  /** All that a record says, key and day included. */
  readonly columns: readonly string[]
  /** The columns, key aside, that an index holds: they change in a statement of their own. */
  readonly indexed: readonly string[]
  /** The column that names something which must be known, and where that is known. */
  readonly refers: { readonly column: string; readonly table: 'customers' | 'affiliates' }
  /** The column by which an older version is told from a newer one. */
  readonly version: string | null
  /** Whether a record can wait here for its customer. */
  readonly holds: boolean
  /** The column that holds a record's day. */
  readonly day: string
  /** The indexes by which records are found, where the key does not serve. */
  readonly indexes: { readonly customer: string | null; readonly day: string | null }
  /** The tables whose records wait for a record of this one, and as which resource they are known. */
  readonly releases: readonly { readonly table: string; readonly resource: string }[]
}

/** What we add to a record; the sender never says it. */
const ADDED = ['account', 'held', 'delivery', 'idx', 'revision']

/** The columns of an account's primary key, less the account. */
export const keyOf = (table: SQLiteTable) =>
  getTableConfig(table)
    .primaryKeys[0]!.columns.map(({ name }) => name)
    .slice(1)

function shelf(table: SQLiteTable, own: Pick<Shelf, 'indexed' | 'refers'> & Partial<Shelf>): Shelf {
  const columns = Object.keys(getTableColumns(table))
  return {
    table: getTableName(table),
    key: keyOf(table),
    columns: columns.filter((name) => !ADDED.includes(name)),
    version: null,
    day: 'day',
    indexes: { customer: null, day: null },
    holds: columns.includes('held'),
    releases: [],
    ...own,
  }
}

/** Customers: they refer to who is paid for them, and others wait for them. */
export const customerShelf = shelf(customers, {
  indexed: ['day'],
  indexes: { customer: null, day: 'customers_day' },
  refers: { column: 'affiliate_id', table: 'affiliates' },
  version: 'last_modified_date',
  releases: [
    { table: 'transactions', resource: 'transactions' },
    { table: 'activity', resource: 'trading-activity' },
  ],
})

/** Transactions: found by their id, their day and their customer. */
export const transactionShelf = shelf(transactions, {
  indexed: ['customer_id', 'day'],
  indexes: { customer: 'transactions_customer', day: 'transactions_day' },
  refers: { column: 'customer_id', table: 'customers' },
})

/** Trading activity: day and customer are part of its key, so nothing of it ever moves. */
export const activityShelf = shelf(activity, {
  indexed: [],
  day: 'date',
  indexes: { customer: 'activity_customer', day: null },
  refers: { column: 'customer_id', table: 'customers' },
})
