import { customersPerBatch } from '../../db/commission/fact-queries.ts'
import { readFactRows } from '../../db/commission/facts.ts'
import type { CustomerFactQuery, FactRow } from '../../db/commission/packed-facts.ts'
import type { AccountSource } from './source.ts'

/** An account and its database. */
export type AccountDatabase = Pick<AccountSource, 'db' | 'account'>

/** The rows of some queries, in the order of the queries. */
export type RowsByQuery = readonly (readonly FactRow[])[]

/**
 * Reads the rows of customers from the records alone, in batches of bounded size. Each query returns the
 * rows of those of its customers who are in `ids` (stored ids).
 */
export async function readRecords(
  { db, account }: AccountDatabase,
  queries: readonly CustomerFactQuery[],
  ids: ReadonlySet<string>,
): Promise<RowsByQuery> {
  const rows: FactRow[][] = queries.map(() => [])
  const all = [...ids]
  const size = customersPerBatch(queries.map(({ query }) => query))
  for (let start = 0; start < all.length; start += size) {
    const part = new Set(all.slice(start, start + size))
    const ofPart = ofCustomers(queries, (id) => part.has(id))
    const wanted = ofPart.filter((one) => one.ids.length > 0)
    const found = await readFactRows(db, account.id, wanted)
    for (const [i, one] of ofPart.entries()) {
      for (const row of found[wanted.indexOf(one)] ?? []) {
        if (part.has(String(row.customer_id))) rows[i]?.push(row)
      }
    }
  }
  return rows
}

/** Returns queries for some of their customers only. */
export const ofCustomers = (
  queries: readonly CustomerFactQuery[],
  isWanted: (id: string) => boolean,
): CustomerFactQuery[] => queries.map((one) => ({ ...one, ids: one.ids.filter(isWanted) }))

/** Returns the stored ids of the customers of some queries, each once. */
export const customerIds = (queries: readonly CustomerFactQuery[]): string[] => [
  ...new Set(queries.flatMap(({ ids }) => ids)),
]
