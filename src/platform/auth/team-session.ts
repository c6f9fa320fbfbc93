import { findByName } from './admin-keys.ts'
import { withObjectRetry } from './object-retry.ts'
import type { Member } from './roles.ts'

/** A session of a member of the team who signed in with a key. `fingerprint` is that of the key. */
export interface TeamSession extends Member {
  readonly id: string
  readonly fingerprint: string
}

/** Returns the object of a session of the team. */
export const teamSessionObject = (env: Env, id: string) =>
  env.CLIENT_GATE.getByName(`session:${id}`)

/** Returns whether a session goes on: the member has the same key and role, and has not signed out. */
export async function isTeamSessionLive(
  env: Env,
  { id, actor, role, fingerprint }: TeamSession,
): Promise<boolean> {
  const member = await findByName(actor, env)
  if (member?.fingerprint !== fingerprint || member.role !== role) return false
  // A copy of the cookie must not outlive the sign-out.
  return !(await withObjectRetry(() => teamSessionObject(env, id).hasEnded()))
}
