import { type Context, Hono } from 'hono'
import type { AppEnv } from '../auth/authorize.ts'
import { ApiError, toApiError } from '../errors.ts'
import { httpsOnly, requestLog } from '../http/request-log.ts'
import { makeChange } from './change.ts'
import { showError } from './error-page.tsx'
import type { Page } from './page.ts'
import { PAGES } from './pages.ts'
import { policy } from './policy.ts'
import { showPage } from './show-page.tsx'
import { requireSession, showSignIn, signIn, signOut } from './sign-in.tsx'

/**
 * The console: pages for the integrations team, rendered by the Worker. It is an application beside
 * `app`, whose administration API it uses.
 */
export const consoleApp = new Hono<AppEnv>()

consoleApp.notFound((c) => showError(c, new ApiError('not_found', { detail: NO_PAGE })))
consoleApp.onError((thrown, c) => showError(c, toApiError(thrown, c)))
consoleApp.use(requestLog, policy, httpsOnly)

consoleApp.get('/console/sign-in', showSignIn)
consoleApp.post('/console/sign-in', signIn)
consoleApp.post('/console/sign-out', signOut)
for (const page of PAGES) {
  const path = `/console${page.path}`
  consoleApp.get(path, (c) => requireSession(c, (session) => showPage(c, page, session)))
  if (page.changes) consoleApp.post(path, (c) => changePage(c, page))
}

const NO_PAGE = 'The console has no page with this address.'

const changePage = (c: Context<AppEnv>, page: Page) =>
  requireSession(c, (session) => makeChange(c, page, session))

/** Returns whether a request is for the console. */
export const isForConsole = (url: string): boolean =>
  /^\/console(?:\/|$)/.test(new URL(url).pathname)
