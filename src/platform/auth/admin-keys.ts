import * as v from 'valibot'
import { badSecret } from '../errors.ts'
import { memoizePerSecret } from './key-cache.ts'
import { type Member, ROLES } from './roles.ts'

declare global {
  interface Env {
    /** Further admin keys as JSON; see `.dev.vars.example`. The secret is optional. */
    ADMIN_KEYS?: string
  }
}

/** The least length of an admin key, in characters: the API does not limit the number of attempts. */
const MIN_KEY_LENGTH = 32

/** The actor of ADMIN_KEY. */
export const ADMIN_KEY_ACTOR = 'admin-key'

/** A member with the digest of their key. */
interface KeyHolder extends Member {
  readonly digest: ArrayBuffer
}

/** A member who signed in with a key. `fingerprint` changes with the key, and does not reveal it. */
export interface KeyMember extends Member {
  readonly fingerprint: string
}

const sha256 = (text: string) => crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))

const role = v.picklist(ROLES)

/** The keys of ADMIN_KEYS by the names of their members: each in clear, or only its SHA-256 in hexadecimal. */
const namedKeys = v.pipe(
  v.string(),
  v.parseJson(),
  v.check((value) => !Array.isArray(value)),
  v.record(
    v.pipe(v.string(), v.regex(/^(?! )[\w.@+ -]{1,64}(?<! )$/)),
    v.union([
      v.strictObject({ key: v.pipe(v.string(), v.minLength(MIN_KEY_LENGTH)), role }),
      v.strictObject({ key_sha256: v.pipe(v.string(), v.regex(/^[\da-f]{64}$/i)), role }),
    ]),
  ),
)

const isDistinct = (texts: readonly string[]) => new Set(texts).size === texts.length

/**
 * Returns the members that ADMIN_KEYS names; null if it is unusable, also because one person could be two: by names
 * that differ by letter case, or by a key under two names, of which ADMIN_KEY is one. A Worker reads the secret once.
 */
const namedMembers = memoizePerSecret(async (secrets: string): Promise<KeyHolder[] | null> => {
  const [adminKey, json]: [string, string] = JSON.parse(secrets)
  const { success, output: keys } = v.safeParse(namedKeys, json)
  if (!success) return null
  const members = await Promise.all(
    Object.entries(keys).map(async ([name, { role, ...named }]) => ({
      // Cloudflare Access names the same person by this address, too.
      actor: name.includes('@') ? name.toLowerCase() : name,
      role,
      digest:
        'key' in named ? await sha256(named.key) : Uint8Array.fromHex(named.key_sha256).buffer,
    })),
  )
  const all = [await adminKeyMember(adminKey), ...members]
  const areDistinct =
    isDistinct(all.map(({ actor }) => actor.toLowerCase())) &&
    isDistinct(all.map(({ digest }) => new Uint8Array(digest).toHex()))
  return areDistinct ? members : null
})

const adminKeyMember = memoizePerSecret(
  async (key: string): Promise<KeyHolder> => ({
    actor: ADMIN_KEY_ACTOR,
    role: 'approver',
    digest: await sha256(key),
  }),
)

function adminKeyHolder({ ADMIN_KEY }: Env): Promise<KeyHolder> {
  // If our own key is missing or can be guessed, respond 503, not 401.
  if (ADMIN_KEY && ADMIN_KEY.length >= MIN_KEY_LENGTH) return adminKeyMember(ADMIN_KEY)
  throw badSecret('ADMIN_KEY')
}

/** Returns the members that ADMIN_KEYS names. Throws `unavailable` if it is unusable. */
export async function namedHolders({ ADMIN_KEY, ADMIN_KEYS }: Env): Promise<readonly KeyHolder[]> {
  const members = await namedMembers(JSON.stringify([ADMIN_KEY, ADMIN_KEYS || '{}']))
  if (!members) throw badSecret('ADMIN_KEYS')
  return members
}

async function present({ actor, role, digest }: KeyHolder): Promise<KeyMember> {
  const twice = await crypto.subtle.digest('SHA-256', digest)
  return { actor, role, fingerprint: new Uint8Array(twice.slice(0, 12)).toHex() }
}

/**
 * Returns the member whose admin key this is; null if there is none. Compares digests in constant
 * time, so that the time reveals nothing about the keys.
 *
 * @throws ApiError `unavailable` if ADMIN_KEY or ADMIN_KEYS is unusable.
 */
export async function findByKey(key: string, env: Env): Promise<KeyMember | null> {
  const sent = await sha256(key)
  const isHolder = ({ digest }: KeyHolder) => crypto.subtle.timingSafeEqual(sent, digest)
  const first = await adminKeyHolder(env)
  if (isHolder(first)) return present(first)
  const [found] = (await namedHolders(env)).filter(isHolder)
  return found ? present(found) : null
}

/**
 * Returns the member with this name, as they are now; null if there is none.
 *
 * @throws ApiError `unavailable` if ADMIN_KEY or ADMIN_KEYS is unusable.
 */
export async function findByName(actor: string, env: Env): Promise<KeyMember | null> {
  const first = await adminKeyHolder(env)
  if (actor === ADMIN_KEY_ACTOR) return present(first)
  const found = (await namedHolders(env)).find((one) => one.actor === actor)
  return found ? present(found) : null
}
