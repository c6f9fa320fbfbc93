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
  readonly indexedColumns: readonly string[]
  /** The columns that are kept, but make no version differ from another. */
  readonly ignoredInComparison: readonly string[]
  /** The column that names something which must be known, and where that is known. */
  readonly reference: {
    readonly column: string
    readonly table: 'customers' | 'affiliates'
  } | null
  /** The column that grows with each re-send, and what it may grow to, in bytes. */
  readonly sizeLimit: { readonly column: string; readonly max: number } | null
  /** The column by which an older version is told from a newer one. */
  readonly versionColumn: string | null
  /** What a re-send makes of what is stored. */
  readonly merge: Merge
  /** Whether a record can wait here for its customer. */
  readonly canHold: boolean
  /** The column that holds a record's day. */
  readonly dayColumn: string
  /** Whether a record may say no day: its day is then the one on which it was first received. */
  readonly dayOptional: boolean
  /** The columns that are empty for good once the customer is erased. */
  readonly personalColumns: readonly string[]
  /** Whether the sender is told where the stored customer came from if the record does not say it. */
  readonly warnsOnAttribution: boolean
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
const SERVICE_COLUMNS = ['account', 'held', 'delivery', 'idx', 'revision']

/** What brands alone say of their customers, and what both do; all else partners alone say. */
const BRAND_COLUMNS = ['regtime', 'extras', 'first_day']
const SHARED_COLUMNS = [
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
const PARTNER_COLUMNS = Object.keys(getTableColumns(customers)).filter(
  (name) => ![...BRAND_COLUMNS, ...SHARED_COLUMNS].includes(name),
)

/** The columns of an account's primary key, less the account. */
export const keyColumnsOf = (table: SQLiteTable) =>
  getTableConfig(table)
    .primaryKeys[0]!.columns.map(({ name }) => name)
    .slice(1)

function recordTable(
  table: SQLiteTable,
  own: Pick<RecordTable, 'indexedColumns' | 'reference'> & Partial<RecordTable>,
  foreign: readonly string[] = [],
): RecordTable {
  const columns = Object.keys(getTableColumns(table))
  return {
    table: getTableName(table),
    key: keyColumnsOf(table),
    columns: columns.filter((name) => !SERVICE_COLUMNS.includes(name) && !foreign.includes(name)),
    ignoredInComparison: [],
    sizeLimit: null,
    versionColumn: null,
    merge: replaced,
    dayColumn: 'day',
    dayOptional: false,
    personalColumns: [],
    warnsOnAttribution: false,
    indexes: { customer: null, day: null },
    canHold: columns.includes('held'),
    releases: [],
    ...own,
  }
}

/** A table whose records wait for customers. */
const waitingRecords = (table: SQLiteTable, resource: string) => ({
  table: getTableName(table),
  key: keyColumnsOf(table),
  resource,
})

/** What is stored of a customer's additional fields; far beyond what one record may bring. */
export const MAX_EXTRAS_BYTES = 65_536

const customerIndexes = {
  indexedColumns: ['day'],
  indexes: { customer: null, day: 'customers_day' },
}

/** Customers of partners: they refer to who is paid for them, and others wait for them. */
export const partnerCustomerTable = recordTable(
  customers,
  {
    ...customerIndexes,
    reference: { column: 'affiliate_id', table: 'affiliates' },
    versionColumn: 'last_modified_date',
    personalColumns: ['first_name', 'last_name', 'email'],
    releases: [
      waitingRecords(transactions, 'transactions'),
      waitingRecords(activity, 'trading-activity'),
    ],
  },
  BRAND_COLUMNS,
)

/** Customers of brands: what a re-send leaves out is kept. */
export const brandCustomerTable = recordTable(
  customers,
  {
    ...customerIndexes,
    reference: null,
    merge: augmented,
    ignoredInComparison: ['regtime'],
    dayOptional: true,
    personalColumns: ['first_name', 'last_name', 'extras'],
    sizeLimit: { column: 'extras', max: MAX_EXTRAS_BYTES },
    warnsOnAttribution: true,
    releases: [waitingRecords(events, 'activities')],
  },
  PARTNER_COLUMNS,
)

/** Transactions: found by their id, their day and their customer. */
export const transactionTable = recordTable(transactions, {
  indexedColumns: ['customer_id', 'day'],
  indexes: { customer: 'transactions_customer', day: 'transactions_day' },
  reference: { column: 'customer_id', table: 'customers' },
})

/** Trading activity: day and customer are part of its key, so nothing of it ever moves. */
export const activityTable = recordTable(activity, {
  indexedColumns: [],
  dayColumn: 'date',
  indexes: { customer: 'activity_customer', day: null },
  reference: { column: 'customer_id', table: 'customers' },
})

/** Activity of brands: found by its identity, its day and its customer. */
export const eventTable = recordTable(events, {
  indexedColumns: ['customer_id', 'day'],
  ignoredInComparison: ['record'],
  merge: replacedOnItsDay,
  dayOptional: true,
  indexes: { customer: 'events_customer', day: 'events_day' },
  reference: { column: 'customer_id', table: 'customers' },
})
