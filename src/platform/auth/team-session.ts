import { findMemberByPasskey, findMemberOfKey, type Member, ROOT } from '../directory/members.ts'
import { rootProof } from './admin-keys.ts'
import { withObjectRetry } from './object-retry.ts'

/** Returns what proves that a session began with a passkey. */
export const passkeyProof = (credential_id: string) => `passkey:${credential_id}`

/** Returns the id of the passkey that a session began with; null if it began with a key. */
export const passkeyOf = (proof: string): string | null => /^passkey:(.*)$/.exec(proof)?.[1] ?? null

/** Returns the object of a session of the team. */
export const teamSessionObject = (env: Env, id: string) =>
  env.CLIENT_GATE.getByName(`session:${id}`)

async function memberOf(env: Env, proof: string): Promise<Member | null> {
  const [, kind, id = ''] = /^(\w+):(.*)$/.exec(proof) ?? []
  if (kind === 'passkey') return findMemberByPasskey(env.DB, id)
  if (kind === 'key') return (await findMemberOfKey(env.DB, { id }))?.member ?? null
  return proof === (await rootProof(env)) ? ROOT : null
}

/**
 * Returns the member of a session, as they are now; null if they or what proves it is them were removed, or if they
 * have signed out.
 */
export async function findMemberOfSession(
  env: Env,
  { id, proof }: { readonly id: string; readonly proof: string },
): Promise<Member | null> {
  const member = await memberOf(env, proof)
  // A copy of the cookie must not outlive the sign-out.
  const hasEnded = member && (await withObjectRetry(() => teamSessionObject(env, id).hasEnded()))
  return hasEnded ? null : member
}
