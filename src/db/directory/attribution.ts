import type { FoundPage, Page } from '../paginate.ts'
import { paginate } from '../paginate.ts'
import { withD1Retry } from '../retry.ts'

/** Where a customer came from, as far as its account's database knows. */
export interface CustomerAttribution {
  customer_id: string
  day: string
  verdict: string
  link: string | null
  affiliate_id: string | null
}

/** One page of an account's customers with where they came from, by id. */
export const listAttributions = (
  db: D1Database,
  account: string,
  page: Page,
): Promise<FoundPage<CustomerAttribution>> =>
  paginate(
    db,
    {
      columns: [
        'customer_id',
        'day',
        "coalesce(verdict, 'organic') as verdict",
        'link',
        'affiliate_id',
      ],
      from: `customers where account = :account`,
      key: ['customer_id'],
      total: `select total from totals where account = :account and resource = 'customers'`,
      values: { account },
    },
    page,
  )

/** How many customers of each day came from where. */
export async function countAttributions(db: D1Database, account: string, from: string, to: string) {
  const { results } = await withD1Retry(() =>
    db
      .prepare(
        `select day, coalesce(verdict, 'organic') as verdict, link, count(*) as customers
         from customers indexed by customers_day
         where account = ?1 and day between ?2 and ?3
         group by 1, 2, 3 order by 1, 2, 3`,
      )
      .bind(account, from, to)
      .all<{ day: string; verdict: string; link: string | null; customers: number }>(),
  )
  return results
}

/** How many visitors of each day followed which link. */
export async function countClicks(db: D1Database, account: string, from: string, to: string) {
  const { results } = await withD1Retry(() =>
    db
      .prepare(
        `select day, link_id, count(*) as clicks from clicks
         where account = ?1 and day between ?2 and ?3
         group by day, link_id order by day, link_id`,
      )
      .bind(account, from, to)
      .all<{ day: string; link_id: string; clicks: number }>(),
  )
  return results
}

/** Those of some affiliate ids that an account has configured. */
export async function configuredAffiliates(
  db: D1Database,
  account: string,
  ids: readonly string[],
): Promise<Set<string>> {
  const { results } = await withD1Retry(() =>
    db
      .prepare(
        `select affiliate_id from affiliates
         where account = ?1 and affiliate_id in (select value from json_each(?2))`,
      )
      .bind(account, JSON.stringify(ids))
      .all<{ affiliate_id: string }>(),
  )
  return new Set(results.map(({ affiliate_id }) => affiliate_id))
}
