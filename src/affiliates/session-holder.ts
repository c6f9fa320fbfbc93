import { isTeamSessionLive } from '../platform/auth/team-session.ts'
import { readProfiles } from '../platform/directory/affiliates.ts'
import { findSignedIn, type SignedIn } from './db/affiliate-passkeys.ts'
import { isViewer, type PortalSession, type ViewerSession } from './member-session.ts'

/**
 * Returns who uses a session of the portal, with the affiliate; null if it has ended: the member or their passkey
 * was removed, the affiliate was suspended since it began, or the member of the team who looks has signed out of
 * the console. While the affiliate is suspended, it is still returned, so that a page can say so.
 */
export async function findHolder(
  env: Env,
  db: D1Database,
  session: PortalSession,
): Promise<SignedIn | null> {
  const holder = await (isViewer(session)
    ? findViewer(env, db, session)
    : findSignedIn(db, session))
  const isOver = holder?.status === 'active' && holder.suspensions !== session.suspensions
  return isOver ? null : holder
}

async function findViewer(
  env: Env,
  db: D1Database,
  { account, affiliate_id, viewer }: ViewerSession,
): Promise<SignedIn | null> {
  const { fingerprint, ...team } = viewer
  const [isLive, profiles] = await Promise.all([
    fingerprint === null || isTeamSessionLive(env, { ...team, fingerprint }),
    readProfiles(db, account, [affiliate_id]),
  ])
  const profile = profiles.get(affiliate_id)
  if (!isLive || !profile) return null
  const { display_name, language, status, suspensions } = profile
  const shown = { display_name, language, status, suspensions }
  const unread = { last_seen_at: null, answers_since: '', new_answers: 0 }
  return { ...shown, ...unread, affiliate_id, id: '', name: viewer.actor }
}
