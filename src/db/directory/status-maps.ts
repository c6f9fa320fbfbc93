import { and, asc, eq } from 'drizzle-orm'
import { all, build, toStatement } from '../query.ts'
import { toJsonChunks } from '../records/json-chunks.ts'
import { JSON_EACH } from '../records/sql-fragments.ts'
import { vocabulary } from '../schema.ts'
import { bindStatement, compileStatement } from '../statement.ts'

/** The fields for which a partner may configure its own values. */
export type MappedField = (typeof vocabulary.$inferSelect)['field']

const isOfField = (account: string, field: MappedField) =>
  and(eq(vocabulary.account, account), eq(vocabulary.field, field))

/** The standard statuses of a transaction. */
export const STATUSES = ['pending', 'approved', 'declined', 'reversed'] as const

/** Returns the meaning of each value that the account has configured for a field. */
export async function readMapping(
  db: D1Database,
  account: string,
  field: MappedField,
): Promise<Record<string, string>> {
  const rows = await all(
    db,
    build
      .select({ word: vocabulary.word, means: vocabulary.means })
      .from(vocabulary)
      .where(isOfField(account, field))
      .orderBy(asc(vocabulary.word)),
  )
  return Object.fromEntries(rows.map(({ word, means }) => [word, means]))
}

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
  toStatement(db, build.delete(vocabulary).where(isOfField(account, field))),
  ...toJsonChunks(Object.entries(meanings)).map((rows) =>
    bindStatement(db, INSERT_MEANINGS, { account, field, rows }),
  ),
]
