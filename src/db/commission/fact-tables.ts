/** A table with facts, and its column of the day, which the primary key has after the account. */
export interface FactTable {
  readonly table: 'transactions' | 'activity' | 'events'
  readonly dayColumn: 'day' | 'date'
}

/** The tables whose records are facts. Customers, whose signups are facts, are read by their ids. */
export const FACT_TABLES = {
  transactions: { table: 'transactions', dayColumn: 'day' },
  activity: { table: 'activity', dayColumn: 'date' },
  events: { table: 'events', dayColumn: 'day' },
} as const satisfies Record<string, FactTable>

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
 * What is read of the records of customers: one by one if a rule looks at single records, otherwise
 * the sums of their amounts, grouped by every column that a plan can distinguish.
 */
export interface FactSelection {
  readonly transactions: {
    /** Types that are read one by one. */
    readonly single: readonly string[]
    /** Types that are summed. */
    readonly summed: readonly string[]
    readonly subtypes: boolean
    /** Amounts in this currency are summed even if the record has an amount in USD. */
    readonly currency: string | null
  }
  readonly activity: {
    readonly single: boolean
    /** Amounts that plans name. */
    readonly fields: readonly ActivityAmount[]
    /** Amounts that are summed. */
    readonly summed: readonly ActivityAmount[]
    readonly instruments: boolean
  }
  readonly events: {
    readonly single: readonly string[]
    readonly summed: readonly string[]
    /** The KPIs that are summed beside `Value`. */
    readonly kpis: readonly string[]
  }
  /** The words of transaction statuses: of records that are read one by one, and of those summed. */
  readonly statuses: { readonly single: readonly string[]; readonly summed: readonly string[] }
}

/** The limits of reading facts. */
export const FACT_LIMITS = {
  /** The searches of one statement: one for each day and customer. */
  searches: 50_000,
  /** The customers of one statement. */
  customers: 1000,
  /** The rows of one answer. With more, or with 2 MB, it is divided by customers, then by days. */
  rows: 10_000,
  /** A statement reads a whole range of ids if it needs at least this share of its customers. */
  denseShare: 0.1,
  /** The share from which on it also returns the records of all of them. */
  fullShare: 0.9,
  /** The rows of one customer and day. */
  rowsOfDay: 200_000,
  /** The KPIs that one statement sums; events with more are read one by one. */
  kpis: 20,
}

/** Reads every record of customers, one by one. */
export const EVERYTHING = 'everything'
