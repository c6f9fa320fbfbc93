import type { DatabaseSync } from 'node:sqlite'
import type { Transaction } from '../records.ts'
import { ACCOUNT, MEMBERS, rowOf, upsertFrom } from './upsert.ts'

const UPSERT = upsertFrom(`values (?, ${MEMBERS.map(() => '?').join()}, ?, ?, 0, 'raw', 1)`)

/** The physical limit: a prepared statement per row and a transaction per bulk, synced to disk. */
export function storeRaw(database: DatabaseSync, records: readonly Transaction[]) {
  const upsert = database.prepare(UPSERT)
  database.exec('begin immediate')
  for (const [idx, record] of records.entries()) upsert.run(ACCOUNT, ...rowOf(record), idx)
  database.exec('commit')
}
