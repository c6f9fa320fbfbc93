import { toJsonChunks } from '../records/json-chunks.ts'
import { JSON_EACH } from '../records/sql-fragments.ts'
import { withD1Retry } from '../retry.ts'

/** The fields whose words a partner may have of its own. */
export type MappedField = 'status' | 'kyc_status_id' | 'sales_status_id'

/** What the words of a field mean, as the account has configured it. */
export async function readMapping(
  db: D1Database,
  account: string,
  field: MappedField,
): Promise<Record<string, string>> {
  const { results } = await withD1Retry(() =>
    db
      .prepare(`select word, means from vocabulary where account = ?1 and field = ?2 order by word`)
      .bind(account, field)
      .all<{ word: string; means: string }>(),
  )
  return Object.fromEntries(results.map(({ word, means }) => [word, means]))
}

/** Sets what the words of a field mean, in place of all that was configured. */
export const putMapping = (
  db: D1Database,
  account: string,
  field: MappedField,
  words: Record<string, string>,
) => [
  db.prepare('delete from vocabulary where account = ?1 and field = ?2').bind(account, field),
  ...toJsonChunks(Object.entries(words)).map((rows) =>
    db
      .prepare(
        `insert into vocabulary (account, field, word, means)
         select ?1, ?2, value ->> 0, value ->> 1 from ${JSON_EACH}(?3)`,
      )
      .bind(account, field, rows),
  ),
]
