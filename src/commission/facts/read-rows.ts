import type { RowKind } from '../../db/commission/fact-queries.ts'
import { readFactRows } from '../../db/commission/facts.ts'
import { putKept } from '../../db/commission/kept-facts.ts'
import type { CustomerFactQuery } from '../../db/commission/packed-facts.ts'
import { checkKept } from './check-kept.ts'
import type { KeptDaysInUse } from './kept-days-in-use.ts'
import { rowsToKeep } from './kept-rows.ts'
import { readWithKept } from './read-kept.ts'
import type { AccountDatabase, RowsByQuery } from './read-records.ts'

/** Which kinds of rows are needed for each customer, by stored id. */
export type NeededKinds = ReadonlyMap<string, ReadonlySet<RowKind>>

/**
 * Reads the rows of each query's customers: kept rows where there are any, otherwise from the records. A
 * run also keeps the rows that were not kept.
 *
 * @param kept The kept days to use; null: all rows are read from the records.
 */
export async function readRows(
  database: AccountDatabase,
  kept: KeptDaysInUse | null,
  queries: readonly CustomerFactQuery[],
  needed: NeededKinds,
): Promise<RowsByQuery> {
  const { db, account } = database
  if (kept === null || queries.length === 0) return readFactRows(db, account.id, queries)
  const { rows, unkept } = await readWithKept(database, kept, queries)
  if (kept.run !== null && !(await checkKept(database, kept, queries, rows, unkept))) {
    return readFactRows(db, account.id, queries)
  }
  if (kept.filled.length > 0) {
    const byKind = new Map(queries.map(({ query: { kind } }, i) => [kind, rows[i] ?? []]))
    await putKept(db, account.id, rowsToKeep(kept, needed, byKind, unkept))
  }
  return rows
}
