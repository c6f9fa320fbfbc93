import type { Context } from 'hono'
import { viewOf } from '../platform/auth/affiliate-view.ts'
import type { AppEnv } from '../platform/auth/authorize.ts'
import { grantOf } from '../platform/auth/grant.ts'
import { withObjectRetry } from '../platform/auth/object-retry.ts'
import type { Account } from '../platform/db/schema.ts'
import { sessionsOf } from '../platform/http/session-cookie.ts'

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

/** The sessions of the portal. */
export const PORTAL_SESSIONS = sessionsOf<MemberSession>('portal')

/** Returns the name of the object of a session. */
export const memberObjectName = (id: string) => `member:${id}`

/** Begins a session of a member whose passkey was verified. `now` is in milliseconds. */
export async function beginMemberSession(
  c: Context<AppEnv>,
  account: Account,
  member: Pick<MemberSession, 'affiliate_id' | 'member' | 'credential_id' | 'suspensions'>,
  now: number,
): Promise<void> {
  const session = { ...PORTAL_SESSIONS.begin(now), account: account.id, ...member }
  const affiliate = {
    id: member.affiliate_id,
    member: member.member,
    key: null,
    view: viewOf(account),
  }
  const grant = { ...grantOf(account, null, 'read links'), affiliate }
  const tokenObject = () => c.env.TOKEN_GATE.getByName(memberObjectName(session.id))
  await withObjectRetry(() => tokenObject().open(grant, session.until))
  await PORTAL_SESSIONS.write(c, session)
}

/** Ends a session, also for copies of its cookie. */
export async function endMemberSession(c: Context<AppEnv>, { id }: MemberSession): Promise<void> {
  await withObjectRetry(() => c.env.TOKEN_GATE.getByName(memberObjectName(id)).end())
  PORTAL_SESSIONS.forget(c)
}
