import type { Context } from 'hono'
import { getCookie } from 'hono/cookie'
import { viewOf } from '../platform/auth/affiliate-view.ts'
import type { AppEnv } from '../platform/auth/authorize.ts'
import { type Grant, grantOf } from '../platform/auth/grant.ts'
import { withObjectRetry } from '../platform/auth/object-retry.ts'
import { placementOf } from '../platform/auth/placement.ts'
import type { TeamSession } from '../platform/auth/team-session.ts'
import type { Account } from '../platform/db/schema.ts'
import { HOUR_MS } from '../platform/durations.ts'
import { sessionCookieName, writeSessionCookie } from '../platform/http/session-cookie.ts'
import { signText, verifyText } from '../platform/http/sign-text.ts'

/** How long a session of the portal lasts, in milliseconds. */
const SESSION_MS = 8 * HOUR_MS

/** Whose portal a session shows. `until` is in milliseconds. */
interface SessionOfAffiliate {
  readonly id: string
  readonly account: string
  readonly affiliate_id: string
  readonly until: number
  /** How often the affiliate had been suspended when it began. */
  readonly suspensions: number
}

/** A member who is signed in to the portal with a passkey. */
export interface MemberSession extends SessionOfAffiliate {
  readonly member: string
  /** The passkey of the sign-in: when it is removed, its sessions end. */
  readonly credential_id: string
}

/** A member of the team, who sees what the affiliate sees and changes nothing. */
export interface ViewerSession extends SessionOfAffiliate {
  readonly viewer: Viewer
}

/** A session of the console. `fingerprint` is that of the key; null if Cloudflare Access admitted the member. */
type Viewer = Omit<TeamSession, 'fingerprint'> & { readonly fingerprint: string | null }

/** A session of the portal. */
export type PortalSession = MemberSession | ViewerSession

/** Returns whether a session is one of a member of the team. */
export const isViewer = (session: PortalSession): session is ViewerSession => 'viewer' in session

/** The name of the header in which a session sends its CSRF token with each change. */
export const CSRF_HEADER = 'x-csrf-token'

const CONTEXT = 'portal session'

const cookieName = (env: Env) => sessionCookieName(env, 'tributary_portal')

/** Returns the name of the object of a session. */
export const memberObjectName = (id: string) => `member:${id}`

/** Begins a session of a member whose passkey was verified, and returns it. `now` is in milliseconds. */
export async function beginMemberSession(
  c: Context<AppEnv>,
  account: Account,
  member: Pick<MemberSession, 'affiliate_id' | 'member' | 'credential_id' | 'suspensions'>,
  now: number,
): Promise<MemberSession> {
  const id = crypto.randomUUID()
  const session = { id, account: account.id, until: now + SESSION_MS, ...member }
  const affiliate = {
    ...{ id: member.affiliate_id, member: member.member, key: null },
    view: viewOf(account),
  }
  const grant = { ...grantOf(account, null, 'read links'), affiliate }
  await begin(c, account, session, grant, now)
  return session
}

/** How long a member of the team can look if the end of their own session is not known, in milliseconds. */
const VIEW_MS = HOUR_MS

/**
 * Begins a session in which a member of the team sees what an affiliate sees, until their own session ends. Its
 * scope is `read`: the API of affiliates refuses every change. `now` is in milliseconds.
 */
export async function beginViewerSession(
  c: Context<AppEnv>,
  account: Account,
  {
    until,
    ...shown
  }: Pick<ViewerSession, 'affiliate_id' | 'viewer' | 'suspensions'> & { until: number | null },
  now: number,
): Promise<void> {
  const affiliate = { id: shown.affiliate_id, member: null, key: null, view: viewOf(account) }
  const grant = { ...grantOf(account, null, 'read'), affiliate }
  const session = { id: crypto.randomUUID(), account: account.id, until: until ?? now + VIEW_MS }
  await begin(c, account, { ...session, ...shown }, grant, now)
}

async function begin(
  c: Context<AppEnv>,
  account: Account,
  session: PortalSession,
  grant: Grant,
  now: number,
): Promise<void> {
  const tokenObject = () =>
    c.env.TOKEN_GATE.getByName(memberObjectName(session.id), placementOf(account))
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
): Promise<PortalSession | null> {
  const cookie = getCookie(c, cookieName(c.env))
  const text = cookie === undefined ? null : await verifyText(c.env, CONTEXT, cookie)
  if (text === null) return null
  const session: PortalSession = JSON.parse(text)
  return session.until > now ? session : null
}

/** Ends a session, also for copies of its cookie. */
export async function endMemberSession(c: Context<AppEnv>, { id }: PortalSession): Promise<void> {
  await withObjectRetry(() => c.env.TOKEN_GATE.getByName(memberObjectName(id)).end())
  writeSessionCookie(c, cookieName(c.env), '', 0)
}

/** Returns the token that each change of this session sends. */
export const memberCsrfToken = (env: Env, { id }: PortalSession) =>
  signText(env, `portal csrf ${id}`, 'form')

/** Returns whether a token was issued to this session. */
export const isMemberCsrfToken = async (env: Env, { id }: PortalSession, token: string) =>
  (await verifyText(env, `portal csrf ${id}`, token)) !== null
