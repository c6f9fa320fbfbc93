import type { DatabaseSync } from 'node:sqlite'
import type { Transaction } from '../records.ts'
import { ACCOUNT, rowOf, SAID, upsertFrom } from './upsert.ts'

const UPSERT = upsertFrom(`values (?, ${SAID.map(() => '?').join()}, ?, ?, 0, 'raw', 1)`)

/** The physical limit: one prepared statement a row, one transaction a bulk, synced to disk. */
export function storeRaw(database: DatabaseSync, records: readonly Transaction[]) {
  const upsert = database.prepare(UPSERT)
  database.exec('begin immediate')
  for (const [idx, record] of records.entries()) upsert.run(ACCOUNT, ...rowOf(record), idx)
  database.exec('commit')
}
