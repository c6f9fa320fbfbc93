import type { Context } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { resolveDatabase } from '../db/database.ts'
import type { FoundPage, Page } from '../db/paginate.ts'
import type { Account } from '../db/schema.ts'
import { PAGE_PARAMETERS, readPage, respondWithPage } from '../http/pagination.ts'
import { readQuery } from '../http/query.ts'
import { findRouteAccount } from './accounts.ts'

/** Responds with one page of a list of the account that the path names; `db` is the account's database. */
export async function respondWithList(
  c: Context<AppEnv>,
  listName: string,
  list: (account: Account, page: Page, db: D1Database) => Promise<FoundPage<object>>,
): Promise<Response> {
  const query = readQuery(c.req.url, ...PAGE_PARAMETERS)
  const account = await findRouteAccount(c)
  const context = JSON.stringify([account.id, listName])
  const page = await readPage(c.env, context, query)
  const data = await list(account, page, resolveDatabase(c.env, account.binding))
  return respondWithPage(c, context, page, data)
}
