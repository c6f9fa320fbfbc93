import type { Context } from 'hono'
import { getCookie } from 'hono/cookie'
import { ASSERTION_HEADER, readAssertion } from '../../platform/auth/access.ts'
import type { Proved } from '../../platform/auth/admin-keys.ts'
import type { AppEnv } from '../../platform/auth/authorize.ts'
import { withObjectRetry } from '../../platform/auth/object-retry.ts'
import type { Member } from '../../platform/auth/roles.ts'
import { signText, verifyText } from '../../platform/auth/sign-text.ts'
import { findMemberOfSession, teamSessionObject } from '../../platform/auth/team-session.ts'
import { HOUR_MS } from '../../platform/durations.ts'
import { sessionCookieName, writeSessionCookie } from '../../platform/http/session-cookie.ts'
import { showOnce, takeShownOnce } from '../../platform/http/shown-once.ts'

/** A new secret or link, with what to do with it. `values` have a label and a text that can be copied. */
export interface ShownSecret {
  readonly title: string
  readonly note: string
  readonly values: readonly (readonly [label: string, text: string])[]
}

const placeOf = ({ id }: Session) => ({ cookie: 'tributary_done', session: id })

/** Keeps what a change says, or its secret, for the next page of the session. */
export const setFlash = (
  c: Context<AppEnv>,
  session: Session,
  done: string | ShownSecret,
): Promise<void> => showOnce(c, placeOf(session), JSON.stringify(done))

/** Returns and deletes what the last change of the session says; null if there is nothing. */
export async function takeFlash(
  c: Context<AppEnv>,
  session: Session,
): Promise<string | ShownSecret | null> {
  const text = await takeShownOnce(c, placeOf(session))
  return text === null ? null : JSON.parse(text)
}

/** How long a session lasts, in milliseconds. */
const SESSION_MS = 8 * HOUR_MS

/** A member who is signed in. `id` binds CSRF tokens to the session. */
export interface Session {
  readonly id: string
  readonly member: Member
  /** When the session ends, in milliseconds; null if Cloudflare Access decides. */
  readonly until: number | null
}

/** The content of the cookie, before it is signed. */
type SessionContent = readonly [id: string, proof: string, until: number]

const CONTEXT = 'console session'

const cookieName = (env: Env) => sessionCookieName(env, 'tributary_console')

/** Returns whether members sign in through Cloudflare Access instead of with their keys. */
export const usesAccess = ({ ACCESS_TEAM, ACCESS_AUD }: Env) => Boolean(ACCESS_TEAM && ACCESS_AUD)

/** Begins a session of a member whose key or passkey was checked, and returns it. `now` is in milliseconds. */
export async function beginSession(
  c: Context<AppEnv>,
  { member, proof }: Proved,
  now: number,
): Promise<Session> {
  const [id, until] = [crypto.randomUUID(), now + SESSION_MS]
  const content: SessionContent = [id, proof, until]
  const value = await signText(c.env, CONTEXT, JSON.stringify(content))
  writeSessionCookie(c, cookieName(c.env), value, SESSION_MS / 1000)
  return { id, member, until }
}

/**
 * Returns the session of a request, with the member as they are now; null if there is none, if it has ended, or if the
 * member, or the key or passkey that it began with, was removed. `now` is in milliseconds.
 *
 * @throws ApiError `insufficient_role` if Cloudflare Access admits somebody who is no member.
 */
export async function readSession(c: Context<AppEnv>, now: number): Promise<Session | null> {
  if (usesAccess(c.env)) {
    const assertion = c.req.header(ASSERTION_HEADER)
    const member = assertion ? await readAssertion(assertion, c.env) : null
    return member && { id: `access ${member.actor}`, member, until: null }
  }
  const text = await verifyText(c.env, CONTEXT, getCookie(c, cookieName(c.env)) ?? '')
  if (text === null) return null
  const [id, proof, until]: SessionContent = JSON.parse(text)
  if (until <= now) return null
  const member = await findMemberOfSession(c.env, { id, proof })
  return member && { id, member, until }
}

/** Ends a session, also for copies of its cookie. */
export async function endSession(c: Context<AppEnv>, { id, until }: Session): Promise<void> {
  if (until !== null) await withObjectRetry(() => teamSessionObject(c.env, id).endSession(until))
  writeSessionCookie(c, cookieName(c.env), '', 0)
}

/** Returns the token that each form of this session sends. */
export const csrfToken = (env: Env, { id }: Session) => signText(env, `console csrf ${id}`, 'form')

/** Returns whether a token was issued to this session. */
export const isCsrfToken = async (env: Env, { id }: Session, token: string) =>
  (await verifyText(env, `console csrf ${id}`, token)) !== null
