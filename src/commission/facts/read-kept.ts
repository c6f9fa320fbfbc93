import { type KeptDays, selectKeptDays } from '../../db/commission/kept-days.ts'
import { selectKept, toKept } from '../../db/commission/kept-facts.ts'
import { type CustomerFactQuery, readPacked } from '../../db/commission/packed-facts.ts'
import { chooseKeptDays, type KeptDaysInUse, openDays } from './kept-days-in-use.ts'
import { type BatchRows, mergeRows, type RowsWithKept } from './merge-rows.ts'
import { type AccountDatabase, customerIds, ofCustomers, readRecords } from './read-records.ts'

/** How many times rows are read if the kept days change meanwhile. */
const ATTEMPTS = 3

/**
 * Reads the rows of each query's customers: those of kept days as they were kept, those of open days
 * from the records. If too little is kept for a customer, all rows of the customer are read from the
 * records.
 */
export async function readWithKept(
  database: AccountDatabase,
  kept: KeptDaysInUse,
  queries: readonly CustomerFactQuery[],
  attempts: number = ATTEMPTS,
): Promise<RowsWithKept> {
  const ids = customerIds(queries)
  if (kept.usable.length === 0 || attempts === 0) return readUnkept(database, queries, ids)
  const batch = await readBatchRows(database, kept.usable, queries, ids)
  if (batch === null) {
    return ids.length === 1
      ? readUnkept(database, queries, ids)
      : readHalves(database, kept, queries, ids, attempts)
  }
  const current = chooseKeptDays(kept, batch.keptDays)
  if (JSON.stringify(current.usable) !== JSON.stringify(kept.usable)) {
    return readWithKept(database, current, queries, attempts - 1)
  }
  return mergeRows(database, kept.usable, queries, batch)
}

/** Reads all rows from the records. */
async function readUnkept(
  database: AccountDatabase,
  queries: readonly CustomerFactQuery[],
  ids: readonly string[],
): Promise<RowsWithKept> {
  const unkept = new Set(ids)
  return { rows: await readRecords(database, queries, unkept), unkept }
}

/** Reads the first half of the customers, then the other half. */
async function readHalves(
  database: AccountDatabase,
  kept: KeptDaysInUse,
  queries: readonly CustomerFactQuery[],
  ids: readonly string[],
  attempts: number,
): Promise<RowsWithKept> {
  const half = new Set(ids.slice(0, Math.ceil(ids.length / 2)))
  const read = (isWanted: (id: string) => boolean) =>
    readWithKept(database, kept, ofCustomers(queries, isWanted), attempts)
  const first = await read((id) => half.has(id))
  const second = await read((id) => !half.has(id))
  return {
    rows: queries.map((_, i) => [...(first.rows[i] ?? []), ...(second.rows[i] ?? [])]),
    unkept: new Set([...first.unkept, ...second.unkept]),
  }
}

/**
 * Reads kept rows and the records of open days in one batch, which sees one state of the database;
 * returns null if they are too many for one batch.
 */
async function readBatchRows(
  { db, account }: AccountDatabase,
  usable: readonly KeptDays[],
  queries: readonly CustomerFactQuery[],
  ids: readonly string[],
): Promise<BatchRows | null> {
  const isOpen = openDays(usable)
  const ofOpenDays = queries
    .map((one) => ({ ...one, query: { ...one.query, days: one.query.days.filter(isOpen) } }))
    .filter((one) => one.query.days.length > 0 && one.ids.length > 0)
  const found = await readPacked(db, account.id, ofOpenDays, [
    selectKeptDays(db, account.id),
    selectKept(db, account.id, ids, usable),
  ])
  const keptCustomers = found && toKept(found.beside[1] ?? [])
  if (found === null || keptCustomers === null || found.rows.includes(null)) return null
  return {
    keptDays: (found.beside[0] ?? []) as readonly unknown[] as readonly KeptDays[],
    keptCustomers,
    openRows: new Map(ofOpenDays.map(({ query: { kind } }, i) => [kind, found.rows[i] ?? []])),
  }
}
