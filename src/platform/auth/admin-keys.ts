import { findMemberOfKey, type Member, ROOT } from '../directory/members.ts'
import { badSecret } from '../errors.ts'
import { memoizePerSecret } from './key-cache.ts'
import { digest, isWellFormed } from './secret.ts'

/** The least length of the root key, in characters: the API does not limit the number of attempts. */
const MIN_KEY_LENGTH = 32

/** A member with what proves it is them. It names the key or passkey, and does not reveal it. */
export interface Proved {
  readonly member: Member
  readonly proof: string
}

const sha256 = (text: string) => crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))

const rootDigest = memoizePerSecret(sha256)

/** Returns the digest of the root key. If our own key is missing or can be guessed, respond 503, not 401. */
function digestOfRoot({ ADMIN_KEY }: Env): Promise<ArrayBuffer> {
  if (ADMIN_KEY && ADMIN_KEY.length >= MIN_KEY_LENGTH) return rootDigest(ADMIN_KEY)
  throw badSecret('ADMIN_KEY')
}

/** Returns what proves that a session began with the root key, as it is now. */
export async function rootProof(env: Env): Promise<string> {
  const twice = await crypto.subtle.digest('SHA-256', await digestOfRoot(env))
  return `root:${new Uint8Array(twice.slice(0, 12)).toHex()}`
}

/**
 * Returns the member whose key this is, or the root key; null if there is none. Compares digests in constant
 * time, so that the time reveals nothing about the root key.
 *
 * @throws ApiError `unavailable` if ADMIN_KEY is unusable.
 */
export async function findByKey(key: string, env: Env): Promise<Proved | null> {
  if (isWellFormed(key, 'tmk')) {
    const found = await findMemberOfKey(env.DB, { digest: await digest(key) })
    return found && { member: found.member, proof: `key:${found.key}` }
  }
  const isRoot = crypto.subtle.timingSafeEqual(await sha256(key), await digestOfRoot(env))
  return isRoot ? { member: ROOT, proof: await rootProof(env) } : null
}
