import type { RowKind } from '../../db/commission/fact-queries.ts'
import type { KeptDays } from '../../db/commission/kept-days.ts'
import type { KeptCustomer } from '../../db/commission/kept-facts.ts'
import type { CustomerFactQuery, FactRow } from '../../db/commission/packed-facts.ts'
import { openDays } from './kept-days-in-use.ts'
import { fromKeptRow } from './kept-rows.ts'
import { type AccountDatabase, type RowsByQuery, readRecords } from './read-records.ts'

/** What one batch has read of some customers. */
export interface BatchRows {
  /** The days that the account keeps. */
  readonly keptDays: readonly KeptDays[]
  readonly keptCustomers: readonly KeptCustomer[]
  /** The rows of open days. */
  readonly openRows: ReadonlyMap<RowKind, readonly FactRow[]>
}

/** Rows, and the customers of whom too little was kept. */
export interface RowsWithKept {
  readonly rows: RowsByQuery
  /** The stored ids of the customers whose rows were all read from the records. */
  readonly unkept: ReadonlySet<string>
}

/** What is kept for each customer, by stored id. */
type KeptById = ReadonlyMap<string, readonly KeptCustomer[]>

/**
 * Puts together the rows of kept days and of open days. Reads the rows of customers of whom too little
 * is kept from the records.
 */
export async function mergeRows(
  database: AccountDatabase,
  usable: readonly KeptDays[],
  queries: readonly CustomerFactQuery[],
  { keptCustomers, openRows }: BatchRows,
): Promise<RowsWithKept> {
  const keptById = Map.groupBy(keptCustomers, ({ customer_id }) => customer_id)
  const unkept = unkeptCustomers(queries, keptById, usable.length)
  const fromRecords =
    unkept.size > 0 ? await readRecords(database, withShareOf(queries, unkept.size), unkept) : []
  const isOpen = openDays(usable)
  const rows = queries.map((one, i) => {
    const { ids, query } = one
    const ofKept = new Set(ids.filter((id) => !unkept.has(id)))
    const all = keptRows(one, ofKept, keptById, isOpen)
    for (const row of openRows.get(query.kind) ?? []) {
      if (ofKept.has(String(row.customer_id))) all.push(row)
    }
    for (const row of fromRecords[i] ?? []) all.push(row)
    return all
  })
  return { rows, unkept }
}

/** Returns the customers of whom a needed kind of rows is not kept for all usable days. */
function unkeptCustomers(
  queries: readonly CustomerFactQuery[],
  keptById: KeptById,
  usableDays: number,
): Set<string> {
  const isKept = (id: string, kind: RowKind): boolean => {
    const own = keptById.get(id) ?? []
    return own.length === usableDays && own.every(({ rows }) => rows[kind] !== undefined)
  }
  return new Set(queries.flatMap(({ ids, query }) => ids.filter((id) => !isKept(id, query.kind))))
}

/** Returns queries with the share of only some of their customers, whose ids span the same range. */
const withShareOf = (
  queries: readonly CustomerFactQuery[],
  customers: number,
): CustomerFactQuery[] =>
  queries.map((one) => ({
    ...one,
    share: (one.share * customers) / Math.max(1, one.ids.length),
  }))

/** Returns the kept rows of some customers on the days of a query that are not open. */
function keptRows(
  { query: { kind, days, statements } }: CustomerFactQuery,
  customers: ReadonlySet<string>,
  keptById: KeptById,
  isOpen: (day: number) => boolean,
): FactRow[] {
  const wanted = new Set(days.filter((day) => !isOpen(day)))
  const rows: FactRow[] = []
  for (const id of customers) {
    for (const kept of keptById.get(id) ?? []) {
      for (const values of kept.rows[kind] ?? []) {
        const row = fromKeptRow(id, statements.columns, values)
        if (wanted.has(Number(row.day))) rows.push(row)
      }
    }
  }
  return rows
}
