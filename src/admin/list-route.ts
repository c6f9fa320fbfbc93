import type { Context } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { resolveDatabase } from '../db/database.ts'
import type { FoundPage, Page } from '../db/paginate.ts'
import type { Account } from '../db/schema.ts'
import { PAGE_PARAMETERS, type PageQuery, readPage, respondWithPage } from '../http/pagination.ts'
import { readQuery } from '../http/query.ts'
import { findRouteAccount } from './accounts.ts'

type List<Filters extends unknown[]> = (
  account: Account,
  page: Page,
  db: D1Database,
  ...filters: Filters
) => Promise<FoundPage<object>>

/** Responds with one page of a list of the account that the path names; `db` is the account's database. */
export async function respondWithList(
  c: Context<AppEnv>,
  listName: string,
  list: List<[]>,
): Promise<Response> {
  return respondWith(c, readQuery(c.req.url, ...PAGE_PARAMETERS), [listName], list)
}

/**
 * Responds with one page of a list of the account that the path names. The parameter `affiliate_id`
 * limits it to one affiliate; `affiliate` is null without it.
 */
export async function respondWithAffiliateList(
  c: Context<AppEnv>,
  listName: string,
  list: List<[affiliate: string | null]>,
): Promise<Response> {
  const names = [...PAGE_PARAMETERS, 'affiliate_id'] as const
  const { affiliate_id = null, ...query } = readQuery(c.req.url, ...names)
  return respondWith(c, query, [listName, affiliate_id], (account, page, db) =>
    list(account, page, db, affiliate_id),
  )
}

/**
 * Responds with one page of a list of the account that the path names, narrowed by the parameters
 * `names`.
 */
export async function respondWithFilteredList<const N extends string>(
  c: Context<AppEnv>,
  listName: string,
  names: readonly N[],
  list: List<[filter: Partial<Record<N, string>>]>,
): Promise<Response> {
  const sent = readQuery<string>(c.req.url, ...PAGE_PARAMETERS, ...names)
  const filter = pick(sent, names)
  const key = Object.keys(filter).length > 0 ? [listName, JSON.stringify(filter)] : [listName]
  return respondWith(c, pick(sent, PAGE_PARAMETERS), key, (account, page, db) =>
    list(account, page, db, filter),
  )
}

/** Returns the parameters with these names. */
function pick<N extends string>(
  sent: Partial<Record<string, string>>,
  names: readonly N[],
): Partial<Record<N, string>> {
  const picked: Partial<Record<N, string>> = {}
  for (const name of names) {
    if (sent[name] !== undefined) picked[name] = sent[name]
  }
  return picked
}

async function respondWith(
  c: Context<AppEnv>,
  query: PageQuery,
  listKey: readonly (string | null)[],
  list: List<[]>,
): Promise<Response> {
  const account = await findRouteAccount(c)
  const context = JSON.stringify([account.id, ...listKey])
  const page = await readPage(c.env, context, query)
  const data = await list(account, page, resolveDatabase(c.env, account.binding))
  return respondWithPage(c, context, page, data)
}
