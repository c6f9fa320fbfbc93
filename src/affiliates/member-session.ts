import type { Context } from 'hono'
import { getCookie } from 'hono/cookie'
import { viewOf } from '../platform/auth/affiliate-view.ts'
import type { AppEnv } from '../platform/auth/authorize.ts'
import { grantOf } from '../platform/auth/grant.ts'
import { withObjectRetry } from '../platform/auth/object-retry.ts'
import { signText, verifyText } from '../platform/auth/sign-text.ts'
import type { Account } from '../platform/db/schema.ts'
import { HOUR_MS } from '../platform/durations.ts'
import { sessionCookieName, writeSessionCookie } from '../platform/http/session-cookie.ts'

/** How long a session of the portal lasts, in milliseconds. */
const SESSION_MS = 8 * HOUR_MS

/** A member who is signed in to the portal with a passkey. `until` is in milliseconds. */
export interface MemberSession {
  readonly id: string
  readonly account: string
  readonly affiliate_id: string
  readonly until: number
  /** How often the affiliate had been suspended when it began. */
  readonly suspensions: number
  readonly member: string
  /** The passkey of the sign-in: when it is removed, its sessions end. */
  readonly credential_id: string
}

const CONTEXT = 'portal session'

const cookieName = (env: Env) => sessionCookieName(env, 'tributary_portal')

/** Returns the name of the object of a session. */
export const memberObjectName = (id: string) => `member:${id}`

/** Begins a session of a member whose passkey was verified. `now` is in milliseconds. */
export async function beginMemberSession(
  c: Context<AppEnv>,
  account: Account,
  member: Pick<MemberSession, 'affiliate_id' | 'member' | 'credential_id' | 'suspensions'>,
  now: number,
): Promise<void> {
  const id = crypto.randomUUID()
  const session = { id, account: account.id, until: now + SESSION_MS, ...member }
  const affiliate = {
    id: member.affiliate_id,
    member: member.member,
    key: null,
    view: viewOf(account),
  }
  const grant = { ...grantOf(account, null, 'read links'), affiliate }
  const tokenObject = () => c.env.TOKEN_GATE.getByName(memberObjectName(session.id))
  await withObjectRetry(() => tokenObject().open(grant, session.until))
  writeSessionCookie(
    c,
    cookieName(c.env),
    await signText(c.env, CONTEXT, JSON.stringify(session)),
    Math.floor((session.until - now) / 1000),
  )
}

/**
 * Returns the session that the cookie of a request names; null if there is none or its time is over. Only its
 * object knows whether the member has signed out. `now` is in milliseconds.
 */
export async function readMemberSession(
  c: Context<AppEnv>,
  now: number,
): Promise<MemberSession | null> {
  const cookie = getCookie(c, cookieName(c.env))
  const text = cookie === undefined ? null : await verifyText(c.env, CONTEXT, cookie)
  if (text === null) return null
  const session: MemberSession = JSON.parse(text)
  return session.until > now ? session : null
}

/** Ends a session, also for copies of its cookie. */
export async function endMemberSession(c: Context<AppEnv>, { id }: MemberSession): Promise<void> {
  await withObjectRetry(() => c.env.TOKEN_GATE.getByName(memberObjectName(id)).end())
  writeSessionCookie(c, cookieName(c.env), '', 0)
}

/** Returns the token that each change of this session sends. */
export const memberCsrfToken = (env: Env, { id }: MemberSession) =>
  signText(env, `portal csrf ${id}`, 'form')

/** Returns whether a token was issued to this session. */
export const isMemberCsrfToken = async (env: Env, { id }: MemberSession, token: string) =>
  (await verifyText(env, `portal csrf ${id}`, token)) !== null
