import type { Context } from 'hono'
import type { Caller } from '../auth/admission.ts'
import { databaseOf } from '../auth/database.ts'
import type { Found, Page } from '../db/list.ts'
import type { Account } from '../db/tables.ts'
import { readQuery } from '../ingest/query.ts'
import { answerPage, PAGING, readPage } from '../reading/page.ts'
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
