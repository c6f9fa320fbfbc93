import type { Context } from 'hono'
import { ASSERTION_HEADER, readAssertion } from '../../platform/auth/access.ts'
import type { AppEnv } from '../../platform/auth/authorize.ts'
import { withObjectRetry } from '../../platform/auth/object-retry.ts'
import type { Member } from '../../platform/auth/roles.ts'
import {
  findMemberOfSession,
  passkeyOf,
  teamSessionObject,
} from '../../platform/auth/team-session.ts'
import { sessionsOf } from '../../platform/http/session-cookie.ts'
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

/** A member who is signed in. `id` binds CSRF tokens to the session. */
export interface Session {
  readonly id: string
  readonly member: Member
  /** The id of the passkey that it began with; null for a key, and with Cloudflare Access. */
  readonly passkey: string | null
  /** When the session ends, in milliseconds; null if Cloudflare Access decides. */
  readonly until: number | null
}

const SESSIONS = sessionsOf<{
  readonly id: string
  readonly until: number
  readonly proof: string
}>('console')

/** Returns whether members sign in through Cloudflare Access instead of with their keys. */
export const usesAccess = ({ ACCESS_TEAM, ACCESS_AUD }: Env) => Boolean(ACCESS_TEAM && ACCESS_AUD)

/** Begins a session of the member whose key or passkey was checked. `now` is in milliseconds. */
export const beginSession = (c: Context<AppEnv>, proof: string, now: number): Promise<void> =>
  SESSIONS.write(c, { ...SESSIONS.begin(now), proof })

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
    return member && { id: `access ${member.actor}`, member, passkey: null, until: null }
  }
  const session = await SESSIONS.read(c, now)
  const member = session && (await findMemberOfSession(c.env, session))
  if (!member) return null
  return { ...session, member, passkey: passkeyOf(session.proof) }
}

/** Ends a session, also for copies of its cookie. */
export async function endSession(c: Context<AppEnv>, { id, until }: Session): Promise<void> {
  if (until !== null) await withObjectRetry(() => teamSessionObject(c.env, id).endSession(until))
  SESSIONS.forget(c)
}

/** `csrfToken` returns the token that each form of a session sends; `isCsrfToken`, whether it was issued to this session. */
export const { csrfToken, isCsrfToken } = SESSIONS
