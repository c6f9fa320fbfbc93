import type { Context } from 'hono'
import type { AppEnv } from '../platform/auth/authorize.ts'
import { mayBeShown } from '../platform/auth/roles.ts'
import { readQuery } from '../platform/http/query.ts'
import { apiOf } from './base/api.ts'
import { type DatedAccount, FILTERS, type Page, startOfToday, type Visit } from './base/page.ts'
import { csrfToken, type Session } from './base/session.ts'
import { namesOf } from './names.ts'

/**
 * Returns an address with the parameters that a page supports. Empty ones are left out, because forms send every
 * field, and so are unknown ones: mail programs and old links add them.
 */
function supportedOf(address: string, names: readonly string[]): string {
  const url = new URL(address)
  for (const [name, value] of [...url.searchParams]) {
    if (value === '' || !names.includes(name)) url.searchParams.delete(name, value)
  }
  return url.href
}

/** Returns the pattern of the addresses of a page of the console. */
const patternOf = (path: string) => new RegExp(`^/console${path.replaceAll(/:\w+/g, '[^/]+')}$`)

const UTC: DatedAccount = { vertical: '', time_zone: 'UTC', book_zone: 'UTC' }

/**
 * Returns the request for a page as the page gets it.
 *
 * @throws ApiError `invalid_query` for a parameter that is repeated.
 */
export async function visitOf(
  c: Context<AppEnv>,
  page: Page,
  session: Session,
  { refused = null, typed = null }: Partial<Pick<Visit, 'refused' | 'typed'>> = {},
): Promise<Visit> {
  const names = page.query ?? []
  const query =
    refused?.change === FILTERS ? {} : readQuery(supportedOf(c.req.url, names), ...names)
  const params: Record<string, string> = c.req.param()
  const api = apiOf(c, session.member)
  const account = params.account ?? ''
  const now = Date.now()
  // The page says why an account cannot be read.
  const own = account === '' ? null : await api.account(account).catch(() => null)
  return {
    c,
    session,
    member: session.member,
    api,
    params,
    account,
    mayOpen: (address) => {
      const [at = ''] = address.split(/[?#]/)
      const found = c.var.pages.find(({ path }) => patternOf(path).test(at))
      return !found || mayBeShown(session.member, found.shows)
    },
    changes: page.changes,
    accountName: own?.name ?? null,
    names: namesOf(api, account),
    query,
    path: new URL(c.req.url).pathname,
    now,
    today: startOfToday(own ?? UTC, now),
    csrf: await csrfToken(c.env, session),
    refused,
    typed,
    deferred: [],
  }
}
