import { customersPerReading } from '../../db/commission/fact-readings.ts'
import { readFactRows } from '../../db/commission/facts.ts'
import type { CustomersReading, FactRow } from '../../db/commission/packed-facts.ts'
import type { AccountSource } from './source.ts'

/** An account and its database. */
export type Database = Pick<AccountSource, 'db' | 'account'>

/** The rows of some readings, in their order. */
export type Rows = readonly (readonly FactRow[])[]

/** Reads customers from their records alone. */
export async function readRecords(
  { db, account }: Database,
  readings: readonly CustomersReading[],
  ids: ReadonlySet<string>,
): Promise<Rows> {
  const rows: FactRow[][] = readings.map(() => [])
  const all = [...ids]
  const size = customersPerReading(readings.map(({ reading }) => reading))
  for (let start = 0; start < all.length; start += size) {
    const part = new Set(all.slice(start, start + size))
    const own = ofCustomers(readings, (id) => part.has(id))
    const wanted = own.filter((one) => one.ids.length > 0)
    const read = await readFactRows(db, account.id, wanted)
    for (const [i, one] of own.entries()) {
      const found = read[wanted.indexOf(one)] ?? []
      for (const row of found) if (part.has(String(row.customer_id))) rows[i]?.push(row)
    }
  }
  return rows
}

/** Returns the readings for some of their customers. */
export const ofCustomers = (
  readings: readonly CustomersReading[],
  isWanted: (id: string) => boolean,
): CustomersReading[] => readings.map((one) => ({ ...one, ids: one.ids.filter(isWanted) }))
