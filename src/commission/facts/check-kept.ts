import { readKeptDays, stopKeeping } from '../../db/commission/kept-days.ts'
import type { CustomersReading, FactRow } from '../../db/commission/packed-facts.ts'
import { KEEPING, type KeptReading, openDays, usedOf } from './kept.ts'
import { type Database, type Rows, readRecords } from './read-records.ts'

/**
 * Compares a customer whose facts were kept with its records, now and then. If they differ the account
 * keeps nothing any more, an error is logged, and the result is false: all customers must be read anew.
 *
 * @param lacking The customers who were read from the records.
 */
export async function checkKept(
  database: Database,
  kept: KeptReading,
  readings: readonly CustomersReading[],
  rows: Rows,
  lacking: ReadonlySet<string>,
): Promise<boolean> {
  const ids = [...new Set(readings.flatMap((one) => one.ids))].filter((id) => !lacking.has(id))
  const id = ids[Math.floor(Math.random() * ids.length)]
  if (id === undefined || Math.random() >= KEEPING.checkedShare) return true
  const records = await readRecords(database, readings, new Set([id]))
  const isOpen = openDays(kept.usable)
  const textOf = (all: readonly FactRow[]): string =>
    sortedText(all.filter((row) => row.customer_id === id && !isOpen(Number(row.day))))
  if (rows.every((all, i) => textOf(all) === textOf(records[i] ?? []))) return true
  const { db, account } = database
  const now = usedOf(kept, await readKeptDays(db, account.id))
  // A record may have changed between the two readings.
  if (JSON.stringify(now.usable) !== JSON.stringify(kept.usable)) return true
  console.error(JSON.stringify({ fault: 'kept_facts_differ', account: account.id }))
  await stopKeeping(db, account.id)
  return false
}

/** Returns rows as text, in an order of their own. */
const sortedText = (rows: readonly FactRow[]): string =>
  JSON.stringify(rows.map((row) => JSON.stringify(Object.entries(row).sort())).sort())
