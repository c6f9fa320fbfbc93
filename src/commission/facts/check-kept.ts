import { readKeptDays, stopKeeping } from '../../db/commission/kept-days.ts'
import type { CustomerFactQuery, FactRow } from '../../db/commission/packed-facts.ts'
import { KEEPING } from './keep-facts.ts'
import { chooseKeptDays, type KeptDaysInUse, openDays } from './kept-days-in-use.ts'
import { type AccountDatabase, customerIds, type RowsByQuery, readRecords } from './read-records.ts'

/**
 * Compares the kept rows of one random customer with the records, in a share `KEEPING.checkedShare` of
 * its calls. If they differ, logs an error, deletes what the account keeps, and returns false: the
 * caller must read all rows from the records.
 *
 * @param unkept The customers whose rows were read from the records.
 */
export async function checkKept(
  database: AccountDatabase,
  kept: KeptDaysInUse,
  queries: readonly CustomerFactQuery[],
  rows: RowsByQuery,
  unkept: ReadonlySet<string>,
): Promise<boolean> {
  const id = randomOf(customerIds(queries).filter((one) => !unkept.has(one)))
  if (id === undefined || Math.random() >= KEEPING.checkedShare) return true
  if (await equalsRecords(database, kept, queries, rows, id)) return true
  // A record may have changed after the rows were read.
  if (await haveDaysChanged(database, kept)) return true
  const { db, account } = database
  console.error(JSON.stringify({ fault: 'kept_facts_differ', account: account.id }))
  await stopKeeping(db, account.id)
  return false
}

const randomOf = (ids: readonly string[]): string | undefined =>
  ids[Math.floor(Math.random() * ids.length)]

/** Whether the rows of a customer on kept days are those of the records. */
async function equalsRecords(
  database: AccountDatabase,
  { usable }: KeptDaysInUse,
  queries: readonly CustomerFactQuery[],
  rows: RowsByQuery,
  id: string,
): Promise<boolean> {
  const records = await readRecords(database, queries, new Set([id]))
  const isOpen = openDays(usable)
  const textOf = (all: readonly FactRow[]): string =>
    sortedText(all.filter((row) => row.customer_id === id && !isOpen(Number(row.day))))
  return rows.every((all, i) => textOf(all) === textOf(records[i] ?? []))
}

/** Returns a text that is equal for the same rows in any order. */
const sortedText = (rows: readonly FactRow[]): string =>
  JSON.stringify(rows.map((row) => JSON.stringify(Object.entries(row).sort())).sort())

/** Whether the days that a computation may use have changed. */
async function haveDaysChanged(
  { db, account }: AccountDatabase,
  kept: KeptDaysInUse,
): Promise<boolean> {
  const now = chooseKeptDays(kept, await readKeptDays(db, account.id))
  return JSON.stringify(now.usable) !== JSON.stringify(kept.usable)
}
