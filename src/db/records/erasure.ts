import type { FoundPage, Page } from '../paginate.ts'
import { paginate } from '../paginate.ts'
import { withD1Retry } from '../retry.ts'
import { JSON_EACH } from './sql-fragments.ts'

/** A customer whose personal data was erased, and when. */
export interface Erasure {
  customer_id: string
  erased_at: string
}

/**
 * Erases the personal data of customers, stored or not: what is there is emptied, and whatever
 * comes later is masked. Said again it changes nothing.
 */
export const erasePersonalData = (
  db: D1Database,
  account: string,
  erasures: readonly Erasure[],
) => {
  const rows = JSON.stringify(
    erasures.map(({ customer_id, erased_at }) => [customer_id, erased_at]),
  )
  return [
    db
      .prepare(
        `insert into erasures (account, customer_id, erased_at)
         select ?1, value ->> 0, value ->> 1 from ${JSON_EACH}(?2) where true on conflict do nothing`,
      )
      .bind(account, rows),
    db
      .prepare(
        `update customers set first_name = null, last_name = null, email = null, extras = null
         where account = ?1 and customer_id in (select value ->> 0 from ${JSON_EACH}(?2))
           and (first_name, last_name, email, extras) is not (null, null, null, null)`,
      )
      .bind(account, rows),
  ]
}

/** Whether an account has stored this customer. */
export async function customerExists(
  db: D1Database,
  account: string,
  id: string,
): Promise<boolean> {
  const found = await withD1Retry(() =>
    db
      .prepare('select 1 from customers where account = ?1 and customer_id = ?2')
      .bind(account, id)
      .first(),
  )
  return found !== null
}

/** One page of an account's erasures, by customer. */
export const listErasures = (
  db: D1Database,
  account: string,
  page: Page,
): Promise<FoundPage<Erasure>> =>
  paginate(
    db,
    {
      columns: ['customer_id', 'erased_at'],
      from: `erasures where account = :account`,
      key: ['customer_id'],
      total: `select count(*) as total from erasures where account = :account`,
      values: { account },
    },
    page,
  )
