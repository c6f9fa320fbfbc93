import { Hono } from 'hono'
import type { Page } from '../pages/base/page.ts'
import { makeChange } from '../pages/change.ts'
import { readSignInForm } from '../pages/form.ts'
import {
  requireSession,
  showSignIn,
  signIn,
  signOut,
  teamSite,
} from '../pages/passkeys/console.tsx'
import { register, showInvitation, showRegistration } from '../pages/passkeys/sign-in.tsx'
import { atPasskeyOrigin, policy, showError, showPage } from '../pages/show-page.tsx'
import type { AppEnv } from '../platform/auth/authorize.ts'
import { ApiError, toApiError } from '../platform/errors.ts'
import { httpsOnly, requestLog } from '../platform/http/request-log.ts'
import { outboxPage } from './overview/outbox.tsx'
import { PAGES } from './pages.ts'

const NO_PAGE = 'The console has no page with this address.'

/** Returns a console that has these pages. */
export function consoleOf(pages: readonly Page[]) {
  const app = new Hono<AppEnv>()
  app.notFound((c) => showError(c, new ApiError('not_found', { detail: NO_PAGE })))
  app.onError((thrown, c) => showError(c, toApiError(thrown, c)))
  app.use(requestLog, policy, httpsOnly, atPasskeyOrigin, (c, next) => {
    c.set('pages', pages)
    return next()
  })
  app.get('/console/sign-in', showSignIn)
  app.post('/console/sign-in', signIn)
  app.post('/console/sign-out', signOut)
  app.get('/console/invitation', (c) => showInvitation(teamSite(c)))
  app.post('/console/invitation', async (c) =>
    showRegistration(teamSite(c), await readSignInForm(c)),
  )
  app.post('/console/invitation/register', async (c) =>
    register(teamSite(c), await readSignInForm(c)),
  )
  for (const page of pages) {
    const path = `/console${page.path}`
    app.get(path, (c) => requireSession(c, (session) => showPage(c, page, session)))
    if (!page.changes) continue
    app.post(path, (c) => requireSession(c, (session) => makeChange(c, page, session)))
  }
  return app
}

/**
 * The console: pages for the integrations team, rendered by the Worker. It is an application beside
 * `app`, whose administration API it uses.
 */
export const consoleApp = consoleOf([...PAGES, outboxPage])

/** Returns whether a request is for the console. */
export const isForConsole = (url: string): boolean =>
  /^\/console(?:\/|$)/.test(new URL(url).pathname)
