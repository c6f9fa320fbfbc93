import type { Context } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { readQuery } from '../http/query.ts'
import { apiOf } from './api.ts'
import type { Page, RefusedForm, Visit } from './page.ts'
import { csrfToken, type Session } from './session.ts'

/** Returns an address without the parameters that are empty: forms send every field. */
function withoutEmpty(address: string): string {
  const url = new URL(address)
  for (const [name, value] of [...url.searchParams]) {
    if (value === '') url.searchParams.delete(name, value)
  }
  return url.href
}

/**
 * Returns what a page is given to render.
 *
 * @throws ApiError `invalid_query` for a parameter that the page does not support.
 */
export async function visitOf(
  c: Context<AppEnv>,
  page: Page,
  session: Session,
  refused: RefusedForm | null,
): Promise<Visit> {
  const params: Record<string, string> = c.req.param()
  return {
    member: session.member,
    api: apiOf(c, session.member),
    params,
    account: params.account ?? '',
    query: readQuery(withoutEmpty(c.req.url), ...(page.query ?? [])),
    path: new URL(c.req.url).pathname,
    now: Date.now(),
    csrf: await csrfToken(c.env, session),
    refused,
  }
}
