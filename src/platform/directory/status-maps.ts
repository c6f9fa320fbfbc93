import { toJsonChunks } from '../db/json-chunks.ts'
import { all } from '../db/query.ts'
import type { vocabulary } from '../db/schema.ts'
import { JSON_EACH } from '../db/sql-fragments.ts'
import { bindStatement, compileStatement } from '../db/statement.ts'

/** The fields for which a partner may configure its own values. */
export type MappedField = (typeof vocabulary.$inferSelect)['field']

const READ_MEANINGS = compileStatement(`
  select word, means from vocabulary where account = :account and field = :field order by word`)

/** The standard statuses of a transaction. */
export const STATUSES = ['pending', 'approved', 'declined', 'reversed'] as const

/** Returns the meaning of each value that the account has configured for a field. */
export async function readMapping(
  db: D1Database,
  account: string,
  field: MappedField,
): Promise<Record<string, string>> {
  type Row = Pick<typeof vocabulary.$inferSelect, 'word' | 'means'>
  const rows = await all<Row>(db, READ_MEANINGS, { account, field })
  return Object.fromEntries(rows.map(({ word, means }) => [word, means]))
}

/** Returns the statuses that the account has configured a meaning for. */
export const listMappedStatuses = async (db: D1Database, account: string): Promise<string[]> =>
  Object.keys(await readMapping(db, account, 'status'))

const DELETE_MEANINGS = compileStatement(
  `delete from vocabulary where account = :account and field = :field`,
)

const INSERT_MEANINGS = compileStatement(`
  insert into vocabulary (account, field, word, means)
  select :account, :field, value ->> 0, value ->> 1 from ${JSON_EACH}(:rows)`)

/** Stores the meanings of a field's values, in place of all earlier ones. */
export const putMapping = (
  db: D1Database,
  account: string,
  field: MappedField,
  meanings: Record<string, string>,
) => [
  bindStatement(db, DELETE_MEANINGS, { account, field }),
  ...toJsonChunks(Object.entries(meanings)).map((rows) =>
    bindStatement(db, INSERT_MEANINGS, { account, field, rows }),
  ),
]
