import { affiliatesByLink, linksOf } from '../../attribution/db/links.ts'
import type { Databases } from '../../ingest/db/histories.ts'
import { all, only } from '../../platform/db/query.ts'
import { JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { compileStatement } from '../../platform/db/statement.ts'

/** Whether a customer was ever owned by `:owners`: affiliates or links. */
const IS_OWNED = `account = :account and owner in (select value from ${JSON_EACH}(:owners))`

const OWNED = compileStatement(`
  select distinct customer_id from customer_owners
  where ${IS_OWNED} and customer_id > :after order by customer_id limit :most`)

const ALL = compileStatement(`
  select customer_id from customers not indexed
  where account = :account and customer_id > :after order by customer_id limit :most`)

const SHARE = compileStatement(`
  select (select count(*) from customer_owners where ${IS_OWNED}) * 1.0 / max(1, (
    select total from totals where account = :account and resource = 'customers')) as share`)

/** The limits of the search for customers. */
export const SEARCH_LIMITS = {
  /** The ids that one query reads. */
  ids: 20_000,
}

/** Some customers, and their share, 0 to 1, among all whose ids lie between the first and the last of them. */
export interface FoundIds {
  readonly ids: readonly string[]
  readonly share: number
}

/**
 * Yields the ids of the customers that affiliates ever had, in their order, at most `size` at a time. Some of them may
 * have been taken back since.
 *
 * @param affiliates Null: all customers.
 */
export async function* findCustomersOf(
  { db, directory }: Databases,
  account: string,
  affiliates: readonly string[] | null,
  size: number,
): AsyncGenerator<FoundIds> {
  const links = affiliates ? await linksOf(directory, account, affiliates) : new Map()
  const owners = JSON.stringify([...(affiliates ?? []), ...links.keys()])
  const values = { account, most: SEARCH_LIMITS.ids, ...(affiliates && { owners }) }
  const share = affiliates
    ? Math.min(1, (await only<{ share: number | null }>(db, SHARE, { account, owners })).share ?? 0)
    : 1
  for (let after = ''; ; ) {
    const rows = await all<{ customer_id: string }>(db, affiliates ? OWNED : ALL, {
      ...values,
      after,
    })
    const ids = rows.map(({ customer_id }) => customer_id)
    for (let i = 0; i < ids.length; i += size) yield { ids: ids.slice(i, i + size), share }
    const last = rows.at(-1)
    if (!last || rows.length < SEARCH_LIMITS.ids) return
    after = last.customer_id
  }
}

const COUNT_OWNED = compileStatement(`
  select owner, count(*) as customers from customer_owners where account = :account group by owner`)

/** Returns how many customers each affiliate ever had. */
export async function countCustomers(
  { db, directory }: Databases,
  account: string,
): Promise<Map<string, number>> {
  type Row = { owner: string; customers: number }
  const rows = await all<Row>(db, COUNT_OWNED, { account })
  const owners = rows.map(({ owner }) => owner)
  const byLink = await affiliatesByLink(directory, account, owners)
  const counts = new Map<string, number>()
  for (const { owner, customers } of rows) {
    const affiliate = byLink.get(owner) ?? owner
    counts.set(affiliate, (counts.get(affiliate) ?? 0) + customers)
  }
  return counts
}
