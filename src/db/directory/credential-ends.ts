import { withD1Retry } from '../retry.ts'

/** The credentials of an account that are searched for those that end soon. */
const SEARCHED_CREDENTIALS = 1000

/**
 * Returns when the previous secrets and the Brand Tokens of an account end, if they do so between two times,
 * in order. Times are in milliseconds.
 */
export async function credentialEnds(
  db: D1Database,
  account: string,
  from: number,
  until: number,
): Promise<number[]> {
  const { results } = await withD1Retry(() =>
    db
      .prepare(
        `select ends_at from (
           select s.ends_at from clients c cross join client_secrets s on s.client_id = c.client_id
           where c.account = ?1 and c.revoked = 0 limit ${SEARCHED_CREDENTIALS})
         where ends_at > ?2 and ends_at <= ?3
         union all
         select ends_at from (
           select ends_at from brand_tokens where account = ?1 limit ${SEARCHED_CREDENTIALS})
         where ends_at > ?2 and ends_at <= ?3
         order by ends_at`,
      )
      .bind(account, from, until)
      .all<{ ends_at: number }>(),
  )
  return results.map(({ ends_at }) => ends_at)
}
