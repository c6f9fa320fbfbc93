import { chunk } from '../records/json-chunks.ts'
import { EACH } from '../records/sql-fragments.ts'
import { tried } from '../retry.ts'

/** The fields whose words a partner may have of its own. */
export type Field = 'status' | 'kyc_status_id' | 'sales_status_id'

/** What the words of a field mean, as the account has configured it. */
export async function wordsOf(
  db: D1Database,
  account: string,
  field: Field,
): Promise<Record<string, string>> {
  const { results } = await tried(() =>
    db
      .prepare(`select word, means from vocabulary where account = ?1 and field = ?2 order by word`)
      .bind(account, field)
      .all<{ word: string; means: string }>(),
  )
  return Object.fromEntries(results.map(({ word, means }) => [word, means]))
}

/** Sets what the words of a field mean, in place of all that was configured. */
export const putWords = (
  db: D1Database,
  account: string,
  field: Field,
  words: Record<string, string>,
) => [
  db.prepare('delete from vocabulary where account = ?1 and field = ?2').bind(account, field),
  ...chunk(Object.entries(words)).map((rows) =>
    db
      .prepare(
        `insert into vocabulary (account, field, word, means)
         select ?1, ?2, value ->> 0, value ->> 1 from ${EACH}(?3)`,
      )
      .bind(account, field, rows),
  ),
]
