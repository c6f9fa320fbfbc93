/** A table with facts, and its day column, which follows the account in the primary key. */
export interface FactTable {
  readonly table: 'transactions' | 'activity' | 'events'
  readonly dayColumn: 'day' | 'date'
  readonly resource: 'transactions' | 'trading-activity' | 'activities'
}

/** The tables whose records are facts. Customers, whose signups are facts, are read by their ids. */
export const FACT_TABLES = {
  transactions: { table: 'transactions', dayColumn: 'day', resource: 'transactions' },
  activity: { table: 'activity', dayColumn: 'date', resource: 'trading-activity' },
  events: { table: 'events', dayColumn: 'day', resource: 'activities' },
} as const satisfies Record<string, FactTable>

/** Returns a record with a result for each table with facts, from the table's value in another record. */
export const mapFactTables = <T, Result>(
  { transactions, activity, events }: Readonly<Record<keyof typeof FACT_TABLES, T>>,
  toResult: (value: T) => Result,
) => ({
  transactions: toResult(transactions),
  activity: toResult(activity),
  events: toResult(events),
})

/** The amounts of a trading activity that plans can name. */
export const ACTIVITY_FIELDS = [
  'lots_traded',
  'pnl',
  'volume_usd',
  'spread_cost',
  'commission',
] as const

/** An amount of a trading activity. */
export type ActivityAmount = (typeof ACTIVITY_FIELDS)[number]

/** Days since 1970, from the first to the last. */
export interface DayRange {
  readonly first: number
  readonly last: number
}

/**
 * Which records are read, and how: one by one (`single`) if a rule looks at single records, otherwise
 * as sums of their amounts (`summed`), grouped by every column that a plan can distinguish.
 */
export interface FactSelection {
  readonly transactions: {
    /** The transaction types that are read one by one. */
    readonly single: readonly string[]
    /** The transaction types that are summed. */
    readonly summed: readonly string[]
    /** Whether sums are grouped by subtype. */
    readonly subtypes: boolean
    /** Amounts in this currency are summed even if their records also have an amount in USD. */
    readonly currency: string | null
    /** Whether the amounts of outflows are summed by their magnitudes, as they come negative. */
    readonly signed: boolean
  }
  readonly activity: {
    /** Whether trading activity is read row by row. */
    readonly single: boolean
    /** The amounts that plans name. */
    readonly fields: readonly ActivityAmount[]
    /** The amounts that are summed. */
    readonly summed: readonly ActivityAmount[]
    /** Whether plans distinguish instruments. */
    readonly instruments: boolean
  }
  readonly events: {
    /** The names of the events that are read one by one. */
    readonly single: readonly string[]
    /** The names of the events that are summed. */
    readonly summed: readonly string[]
    /** The names of the KPIs that are summed in addition to `Value`. */
    readonly kpis: readonly string[]
    /** The names of the events whose `Value` is summed by its magnitude. */
    readonly outflows: readonly string[]
  }
  /** The stored statuses of the records that are read one by one, and of those that are summed. */
  readonly statuses: { readonly single: readonly string[]; readonly summed: readonly string[] }
}

/** The member with the status of each event that has one, by the event's name. */
export type StatusMembers = Readonly<Record<string, string>>

/** The limits of fact queries. */
export const FACT_LIMITS = {
  /** The searches of one statement: one for each day and customer. */
  searches: 50_000,
  /** The customers of one statement. */
  customers: 1000,
  /** The KPIs that one statement sums; events with more are read one by one. */
  kpis: 20,
}

/** Reads every record of customers, one by one. */
export const EVERYTHING = 'everything'
