import { isTeamSessionLive } from '../auth/team-session.ts'
import { findSignedIn, type SignedIn } from '../db/directory/affiliate-passkeys.ts'
import { readProfiles } from '../db/directory/affiliates.ts'
import { isViewer, type PortalSession, type ViewerSession } from './member-session.ts'

/**
 * Returns who uses a session of the portal, with the affiliate; null if it has ended: the member or their passkey
 * was removed, or the member of the team who looks has signed out of the console.
 */
export const findHolder = (
  env: Env,
  db: D1Database,
  session: PortalSession,
): Promise<SignedIn | null> =>
  isViewer(session) ? findViewer(env, db, session) : findSignedIn(db, session)

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
  const { display_name, language, status } = profile
  return { affiliate_id, id: '', name: viewer.actor, display_name, language, status }
}
