import type { Context } from 'hono'
import { endMemberSession, PORTAL_SESSIONS } from '../affiliates/member-session.ts'
import type { Values } from '../pages/base/page.ts'
import { readSignInForm } from '../pages/form.ts'
import { showInvitation as invitationOf, nextOf, signInPage } from '../pages/passkeys/sign-in.tsx'
import type { PasskeySite } from '../pages/passkeys/site.ts'
import { isOwnOrigin } from '../pages/show-page.tsx'
import type { AppEnv } from '../platform/auth/authorize.ts'
import { ApiError } from '../platform/errors.ts'
import { fill } from '../platform/languages.ts'
import { portalPath } from './layout.tsx'
import { portalSite } from './passkey-site.tsx'
import { type MemberVisit, memberVisit, type PortalVisit, portalVisit } from './visit.ts'

// The sign-in and the sign-out of a portal.

/** Returns the handler of a form before the sign-in. */
export const ofVisitor =
  (handle: (site: PasskeySite, form: Values) => Promise<Response>) => async (c: Context<AppEnv>) =>
    handle(portalSite(c, await portalVisit(c)), await readSignInForm(c))

/** Responds with the sign-in, or sends a member who is signed in to the page that they wanted. */
export async function showSignIn(c: Context<AppEnv>): Promise<Response> {
  const visit = await memberVisit(c)
  const next = nextOf(c.req.query('next'), portalPath(visit.account.id), c.req.url)
  if (isMember(visit)) return c.redirect(next, 303)
  const done = c.req.query('done') ? { done: visit.words.signed_out } : {}
  return signInPage(portalSite(c, visit), { ...done, next })
}

/** Responds with the page that an invitation links to. */
export const showInvitation = async (c: Context<AppEnv>): Promise<Response> =>
  invitationOf(portalSite(c, await portalVisit(c)))

/** Returns whether a visit is one of a member. */
export const isMember = <V extends object>(visit: V | MemberVisit): visit is MemberVisit =>
  'session' in visit

/** Responds that the affiliate is suspended. */
export const suspendedPage = (c: Context<AppEnv>, visit: PortalVisit): Promise<Response> => {
  const { id, name } = visit.account
  const problem = fill(visit.words.suspended, { account: name })
  return signInPage(portalSite(c, visit), { status: 403, problem, next: portalPath(id) })
}

/** Reads a form that a page of this session sent. Throws `invalid_request` for any other form. */
export async function readMemberForm(c: Context<AppEnv>, { session, words }: MemberVisit) {
  const form = isOwnOrigin(c.req.raw) ? await readSignInForm(c) : null
  // Another page of the browser could otherwise send a form with the session's cookie (CSRF).
  if (form && (await PORTAL_SESSIONS.isCsrfToken(c.env, session, form('csrf')))) return form
  throw new ApiError('invalid_request', { detail: words.other_session })
}

/** Ends the session, also for copies of its cookie. */
export async function signOut(c: Context<AppEnv>): Promise<Response> {
  const visit = await memberVisit(c)
  if (isMember(visit)) {
    await readMemberForm(c, visit)
    await endMemberSession(c, visit.session)
  }
  return c.redirect(portalPath(visit.account.id, '/sign-in?done=yes'), 303)
}
