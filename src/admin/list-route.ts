import type { Context } from 'hono'
import type { Caller } from '../auth/authorize.ts'
import { databaseOf } from '../db/database.ts'
import type { Found, Page } from '../db/records/list.ts'
import type { Account } from '../db/schema.ts'
import { answerPage, PAGING, readPage } from '../http/pagination.ts'
import { readQuery } from '../http/query.ts'
import { accountOf } from './accounts.ts'

/** Answers one page of what an account has; `db` is where its records are. */
export async function listed(
  c: Context<Caller>,
  noun: string,
  list: (account: Account, page: Page, db: D1Database) => Promise<Found<object>>,
): Promise<Response> {
  const asked = readQuery(c.req.url, ...PAGING)
  const account = await accountOf(c)
  const context = JSON.stringify([account.id, noun])
  const page = await readPage(c.env, context, asked)
  const found = await list(account, page, databaseOf(c.env, account.binding))
  return answerPage(c, context, page, found)
}
