import type { Column } from '../../platform/db/column-types.ts'
import { columnNames, encodedColumns, type Table } from '../../platform/db/table.ts'
import { activity, customers, events, transactions } from '../../platform/db/tables.ts'
import { keepOmitted, type Merge, replaceAll, replaceKeepingDay } from './merge.ts'

/**
 * How one table stores records: everything on which the statements that write them depend. The table
 * `customers` has two, one for customers of partners and one for those of brands.
 */
export interface RecordTable {
  readonly table: string
  /** The columns that tell one record of an account from another. */
  readonly key: readonly string[]
  /** The columns that hold a record's content, key and day included. */
  readonly columns: readonly string[]
  /** The columns that are stored in another form than that of the wire, such as days. */
  readonly encoded: Readonly<Record<string, Column>>
  /**
   * The cells of a record, behind its position: its columns, and what only statements read. `column` converts what is stored
   * in another form.
   */
  readonly cells: readonly { readonly name: string; readonly column: Column | undefined }[]
  /** Indexed columns outside the key. Only the statement for records that move sets them. */
  readonly indexedColumns: readonly string[]
  /** The columns that are stored, but do not make one version differ from another. */
  readonly ignoredInComparison: readonly string[]
  /** The column that must refer to a known row, and the table of that row. */
  readonly reference: {
    readonly column: string
    readonly table: 'customers' | 'affiliates'
  } | null
  /** Whether customers have additional fields, which grow with each re-send. */
  readonly hasExtras: boolean
  /** The column that tells an older version from a newer one; null except for customers of partners. */
  readonly versionColumn: string | null
  /** What a re-send makes of the stored record. */
  readonly merge: Merge
  /** The columns that tell what a record is about. A re-send that changes one of them gets a warning. */
  readonly kindColumns: readonly string[]
  /** The column that determines the affiliate of a customer. */
  readonly affiliation: 'affiliate_id' | 'link' | null
  /** Whether the table keeps when a record was first heard of, as `first_seen_at`. */
  readonly hasFirstSeen: boolean
  /** Whether a record can wait here for its customer. */
  readonly canHold: boolean
  /** The column that holds a record's day. */
  readonly dayColumn: string
  /**
   * The column that is null in a record without a day, which then has the day on which it was first received; null if
   * every record has a day.
   */
  readonly timeColumn: string | null
  /** The columns that stay empty once the customer is erased; see `erasedValue`. */
  readonly personalColumns: readonly string[]
  /**
   * The column of JSON that keeps only its known members once the customer is erased. The cell
   * `MASK_PATCH` of a record has the patch that removes the others.
   */
  readonly maskedColumn: string | null
  /** The indexes that find records by their key and by day; null where the primary key serves. */
  readonly indexes: { readonly key: string | null; readonly day: string | null }
  /** The tables whose records wait for records of this one, and the names of their resources. */
  readonly releases: readonly {
    readonly table: string
    readonly key: readonly string[]
    readonly dayColumn: string
    readonly resource: string
  }[]
}

/** The columns of the customer fields that conditions of plans use. */
export const FIELDS = [
  'country_code',
  'trading_account_type',
  'challenge_type',
  'phase',
  'kyc_status_id',
  'sales_status_id',
  'account_size',
  'link',
] as const

/** Columns that the service adds; a sender never sets them. */
const SERVICE_COLUMNS = [
  'account',
  'held',
  'delivery',
  'idx',
  'revision',
  'first_seen_at',
  'first_seen_day',
]

/** Columns of customers that only brands fill, and columns that brands and partners fill. */
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
const PARTNER_COLUMNS = columnNames(customers).filter(
  (name) => ![...BRAND_COLUMNS, ...SHARED_COLUMNS].includes(name),
)

/** Returns the columns of a record's key without the account: of its unique index or primary key. */
export const keyColumnsOf = (table: Table): string[] =>
  (table.uniqueKey ?? table.primaryKey).filter((name) => name !== 'account')

/**
 * The name of the cell with the verdict on the `tracking_data` of a record: `unusable` if only
 * `tracking_data` that cannot be used was sent, null if none was.
 */
export const SENT_VERDICT = 'sent_verdict'

/**
 * The name of the cell with a JSON patch that removes the members which an erasure removes from
 * `maskedColumn`; null if there are none.
 */
export const MASK_PATCH = 'mask'

/** The name of the cell that is 1 if a record has a `MASK_PATCH`, else 0. */
export const HAS_MASK = 'has_mask'

function recordTable(
  table: Table,
  options: Pick<RecordTable, 'indexedColumns' | 'reference'> & Partial<RecordTable>,
  unusedColumns: readonly string[] = [],
): RecordTable {
  const all = columnNames(table)
  const columns = all.filter(
    (name) => !SERVICE_COLUMNS.includes(name) && !unusedColumns.includes(name),
  )
  const encoded = encodedColumns(table)
  const cells = [
    ...columns,
    ...(options.affiliation === 'link' ? [SENT_VERDICT] : []),
    ...(options.maskedColumn ? [MASK_PATCH, HAS_MASK] : []),
  ]
  return {
    table: table.name,
    key: keyColumnsOf(table),
    columns,
    encoded,
    cells: cells.map((name) => ({ name, column: encoded[name] })),
    ignoredInComparison: [],
    hasExtras: false,
    versionColumn: null,
    merge: replaceAll,
    kindColumns: [],
    affiliation: null,
    hasFirstSeen: all.includes('first_seen_at'),
    dayColumn: 'day',
    timeColumn: null,
    personalColumns: [],
    maskedColumn: null,
    indexes: { key: null, day: null },
    canHold: all.includes('held'),
    releases: [],
    ...options,
  }
}

/**
 * Returns the columns that order the held records of a table: those of the partial index `…_held`, to
 * which SQLite appends the rest of the primary key.
 */
export const heldKeyOf = ({ key, dayColumn }: RecordTable): string[] => [
  ...new Set(['customer_id', dayColumn, ...key]),
]

const waitingRecords = (table: Table, resource: string) => ({
  table: table.name,
  key: keyColumnsOf(table),
  dayColumn: resource === 'trading-activity' ? 'date' : 'day',
  resource,
})

const customerIndexes = { indexedColumns: ['day'], indexes: { key: null, day: 'customers_day' } }

/** Customers of partners. They refer to an affiliate; transactions and activity wait for them. */
export const partnerCustomerTable = recordTable(
  customers,
  {
    ...customerIndexes,
    reference: { column: 'affiliate_id', table: 'affiliates' },
    affiliation: 'affiliate_id',
    versionColumn: 'last_modified_date',
    personalColumns: ['first_name', 'last_name', 'email'],
    releases: [
      waitingRecords(transactions, 'transactions'),
      waitingRecords(activity, 'trading-activity'),
    ],
  },
  BRAND_COLUMNS,
)

/** Customers of brands. A re-send keeps what it leaves out. */
export const brandCustomerTable = recordTable(
  customers,
  {
    ...customerIndexes,
    reference: null,
    merge: keepOmitted,
    affiliation: 'link',
    ignoredInComparison: ['regtime'],
    timeColumn: 'signup_date',
    personalColumns: ['first_name', 'last_name', 'country_code', 'tracking_data', 'extras'],
    hasExtras: true,
    releases: [waitingRecords(events, 'activities')],
  },
  PARTNER_COLUMNS,
)

/** Transactions, found by id, by day and by customer. */
export const transactionTable = recordTable(transactions, {
  indexedColumns: ['customer_id', 'day'],
  indexes: { key: 'transactions_key', day: null },
  reference: { column: 'customer_id', table: 'customers' },
})

/** Trading activity. Day and customer are part of its key, so a record never moves. */
export const tradingActivityTable = recordTable(activity, {
  indexedColumns: [],
  dayColumn: 'date',
  reference: { column: 'customer_id', table: 'customers' },
})

/** The members that every event may have. A definition cannot give them another meaning. */
export const KNOWN_MEMBERS = [
  'customerid',
  'eventname',
  'eventid',
  'createtime',
  'Value',
  'Currency',
]

/** The length of a `createtime` that is a date without a time. */
export const DATE_LENGTH = 10

/** Activity of brands, found by its identity, by day and by customer. */
export const brandActivityTable = recordTable(events, {
  indexedColumns: ['customer_id', 'day'],
  ignoredInComparison: ['record'],
  personalColumns: ['details'],
  maskedColumn: 'record',
  merge: replaceKeepingDay,
  kindColumns: ['eventname', 'customer_id'],
  timeColumn: 'createtime',
  indexes: { key: 'events_key', day: null },
  reference: { column: 'customer_id', table: 'customers' },
})
