import { toJsonChunks } from '../db/json-chunks.ts'
import { all } from '../db/query.ts'
import type { vocabulary } from '../db/schema.ts'
import { JSON_EACH } from '../db/sql-fragments.ts'
import { bindStatement, compileStatement } from '../db/statement.ts'

const READ_MEANINGS = compileStatement(`
  select word, means from vocabulary where account = :account order by word`)

/** The standard statuses of a transaction. */
export const STATUSES = ['pending', 'approved', 'declined', 'reversed'] as const

/** Returns what each status means that the account has configured. */
export async function readMapping(
  db: D1Database,
  account: string,
): Promise<Record<string, string>> {
  type Row = Pick<typeof vocabulary.$inferSelect, 'word' | 'means'>
  const rows = await all<Row>(db, READ_MEANINGS, { account })
  return Object.fromEntries(rows.map(({ word, means }) => [word, means]))
}

/** Returns the statuses that the account has configured a meaning for. */
export const listMappedStatuses = async (db: D1Database, account: string): Promise<string[]> =>
  Object.keys(await readMapping(db, account))

const DELETE_MEANINGS = compileStatement(`delete from vocabulary where account = :account`)

const INSERT_MEANINGS = compileStatement(`
  insert into vocabulary (account, word, means)
  select :account, value ->> 0, value ->> 1 from ${JSON_EACH}(:rows)`)

/** Stores what statuses mean, in place of all earlier ones. */
export const putMapping = (db: D1Database, account: string, meanings: Record<string, string>) => [
  bindStatement(db, DELETE_MEANINGS, { account }),
  ...toJsonChunks(Object.entries(meanings)).map((rows) =>
    bindStatement(db, INSERT_MEANINGS, { account, rows }),
  ),
]
