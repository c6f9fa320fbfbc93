import type { FoundPage, Page } from '../paginate.ts'
import { paginate } from '../paginate.ts'
import { toJsonChunks } from '../records/json-chunks.ts'
import { JSON_EACH } from '../records/sql-fragments.ts'
import { withD1Retry } from '../retry.ts'

/** Who may be paid, and whose referral that is. */
export interface Affiliate {
  affiliate_id: string
  parent: string | null
}

/** Sets affiliates: one that is there keeps its parent unless another one, or none, is said. */
export const putAffiliates = (
  db: D1Database,
  account: string,
  affiliates: readonly { affiliate_id: string; parent?: string | null }[],
) =>
  toJsonChunks(
    affiliates.map(({ affiliate_id, parent }) => [affiliate_id, parent, parent !== undefined]),
  ).map((rows) =>
    db
      .prepare(
        `insert into affiliates (account, affiliate_id, parent)
         select ?1, value ->> 0, iif(value ->> 2, value ->> 1, t.parent) from ${JSON_EACH}(?2)
         left join affiliates t on t.account = ?1 and t.affiliate_id = value ->> 0 where true
         on conflict (account, affiliate_id) do update set parent = excluded.parent
         where parent is not excluded.parent`,
      )
      .bind(account, rows),
  )

/** No line of referrals is longer. */
const MAX_DEPTH = 1000

/**
 * Fails, and its batch with it, if one of these affiliates is below itself: two changes at once, each
 * of them right, can make a circle of which everlasting payments would follow.
 */
export const rejectCycles = (
  db: D1Database,
  account: string,
  affiliates: readonly { affiliate_id: string }[],
) =>
  toJsonChunks(affiliates.map(({ affiliate_id }) => [affiliate_id])).map((rows) =>
    db
      .prepare(
        `with recursive up(start, parent, depth) as (
           select a.affiliate_id, a.parent, 1 from ${JSON_EACH}(?2) cross join affiliates a
             on a.account = ?1 and a.affiliate_id = value ->> 0
           union all
           select up.start, a.parent, depth + 1 from up cross join affiliates a
             on a.account = ?1 and a.affiliate_id = up.parent
           where up.parent <> up.start and depth < ${MAX_DEPTH}
         )
         select json('${NOT_JSON}') from up where parent = start limit 1`,
      )
      .bind(account, rows),
  )

/** No JSON: to read it as such is what makes the statement fail. */
const NOT_JSON = 'a circle'

/** The parents of all affiliates that have one, of an account. */
export async function listParents(db: D1Database, account: string): Promise<Affiliate[]> {
  const { results } = await withD1Retry(() =>
    db
      .prepare('select affiliate_id, parent from affiliates where account = ?1')
      .bind(account)
      .all<Affiliate>(),
  )
  return results
}

/** One page of an account's affiliates, by id. */
export const listAffiliates = (
  db: D1Database,
  account: string,
  page: Page,
): Promise<FoundPage<Affiliate>> =>
  paginate(
    db,
    {
      columns: ['affiliate_id', 'parent'],
      from: `affiliates where account = :account`,
      key: ['affiliate_id'],
      total: `select count(*) as total from affiliates where account = :account`,
      values: { account },
    },
    page,
  )

/** At most so many are told of: who sends more has something else wrong. */
const MAX_UNCONFIGURED = 1000

/** The affiliate ids that customers name and nobody has configured, with how many name each. */
export async function listUnconfigured(db: D1Database, account: string) {
  const { results } = await withD1Retry(() =>
    db
      .prepare(
        `select c.affiliate_id, count(*) as customers from customers c
         where c.account = ?1 and c.affiliate_id is not null and not exists (
           select 1 from affiliates a where a.account = ?1 and a.affiliate_id = c.affiliate_id)
         group by c.affiliate_id order by customers desc, c.affiliate_id limit ${MAX_UNCONFIGURED}`,
      )
      .bind(account)
      .all<{ affiliate_id: string; customers: number }>(),
  )
  return results
}

/** Whether an account has configured this affiliate. */
export async function affiliateExists(
  db: D1Database,
  account: string,
  id: string,
): Promise<boolean> {
  const found = await withD1Retry(() =>
    db
      .prepare('select 1 from affiliates where account = ?1 and affiliate_id = ?2')
      .bind(account, id)
      .first(),
  )
  return found !== null
}
