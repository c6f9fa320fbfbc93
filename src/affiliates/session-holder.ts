import { findSignedIn, type SignedIn } from './db/affiliate-passkeys.ts'
import type { MemberSession } from './member-session.ts'

/**
 * Returns who uses a session of the portal, with the affiliate; null if it has ended: the member or their passkey
 * was removed, or the affiliate was suspended since it began. While the affiliate is suspended, it is still
 * returned, so that a page can say so.
 */
export async function findHolder(db: D1Database, session: MemberSession): Promise<SignedIn | null> {
  const holder = await findSignedIn(db, session)
  const isOver = holder?.status === 'active' && holder.suspensions !== session.suspensions
  return isOver ? null : holder
}
