import type { Databases } from '../../ingest/db/histories.ts'
import { FACT_TABLES, mapFactTables } from '../db/fact-tables.ts'
import { type Beginnings, type FactDays, readBeginnings } from '../db/facts.ts'

/** Where the records and the books of an account begin, and the days with records of each table. */
export interface AccountBeginnings extends Omit<Beginnings, 'days'> {
  readonly days: Readonly<Record<keyof typeof FACT_TABLES, readonly number[]>>
}

/** The id of an account, and its vertical, which determines the tables of its records. */
export interface AccountKey {
  readonly id: string
  readonly vertical: string
}

/**
 * Finds where the records and the books of an account begin. Brands have events; partners have
 * transactions and trading activity.
 */
export async function beginningsOf({
  db,
  account,
}: Pick<Databases, 'db'> & { readonly account: AccountKey }): Promise<AccountBeginnings> {
  const { transactions, activity, events } = FACT_TABLES
  const isBrand = account.vertical === 'igaming'
  const tables = isBrand ? [events] : [transactions, activity]
  const { days, ...others } = await readBeginnings(db, account.id, tables)
  const [first = [], second = []] = days
  const found = isBrand
    ? { transactions: [], activity: [], events: first }
    : { transactions: first, activity: second, events: [] }
  return { ...others, days: found }
}

/**
 * Returns the days whose facts a computation reads. Records that are read one by one are read on all
 * days, since a customer qualifies by the first of them and later ones can void a trigger. Records that
 * are summed are read from `firstSummed` to `lastSummed`.
 */
export function factDaysBetween(
  days: AccountBeginnings['days'],
  firstSummed: number,
  lastSummed: number,
): FactDays {
  return mapFactTables(days, (all) => ({
    single: all,
    summed: all.filter((day) => day >= firstSummed && day <= lastSummed),
  }))
}
