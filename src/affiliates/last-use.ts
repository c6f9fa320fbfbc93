import type { Context } from 'hono'
import type { AppEnv } from '../platform/auth/authorize.ts'
import { useAffiliateKey } from '../platform/directory/affiliate-keys.ts'
import { logFailure } from '../platform/log-failure.ts'
import { seeMember } from './db/affiliate-passkeys.ts'
import type { MemberSession } from './member-session.ts'

// When keys and members were last there, as a day: at most one write a day for each, after the response.

/** The maximum number of keys whose use an isolate remembers. */
const MAX_REMEMBERED = 10_000

const usedOn = new Map<string, string>()

/** Returns the day of an instant (milliseconds) in UTC. */
const dayOf = (now: number): string => new Date(now).toISOString().slice(0, 10)

/** Notes that the key with a digest was accepted, unless this isolate has done so on this day. */
export function noteUse(c: Context<AppEnv>, digest: string, now: number): void {
  const day = dayOf(now)
  if (usedOn.get(digest) === day) return
  if (usedOn.size >= MAX_REMEMBERED) usedOn.clear()
  usedOn.set(digest, day)
  const write = () => c.env.DB.batch([useAffiliateKey(c.env.DB, digest, day)])
  c.executionCtx.waitUntil(logFailure('DB', write))
}

/** Notes that a member looks at the portal, unless it is known of this day. `seenAt` is when they last did. */
export function noteVisit(
  c: Context<AppEnv>,
  db: D1Database,
  session: MemberSession,
  { seenAt, now }: { readonly seenAt: string; readonly now: number },
): void {
  if (seenAt >= dayOf(now)) return
  const at = new Date(now).toISOString()
  c.executionCtx.waitUntil(logFailure('records', () => db.batch([seeMember(db, session, at)])))
}
