import { badSecret } from '../errors.ts'
import { memoizePerSecret } from './key-cache.ts'
import { isRole, type Member } from './roles.ts'

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

/** A key as ADMIN_KEYS holds it: in clear, or only its SHA-256 in hexadecimal. */
interface NamedKey {
  readonly key?: unknown
  readonly key_sha256?: unknown
  readonly role?: unknown
}

/** A member with the digest of their key. */
interface KeyHolder extends Member {
  readonly digest: Promise<ArrayBuffer>
}

/** A member who signed in with a key. `fingerprint` changes with the key, and does not reveal it. */
export interface KeyMember extends Member {
  readonly fingerprint: string
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const sha256 = (text: string) => crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))

const NAME = /^(?! )[\w.@+ -]{1,64}(?<! )$/

function digestOf(name: string, { key, key_sha256 }: NamedKey): Promise<ArrayBuffer> {
  if (typeof key === 'string' && key_sha256 === undefined) {
    if (key.length >= MIN_KEY_LENGTH) return sha256(key)
    throw new Error(`The key of ${name} has fewer than ${MIN_KEY_LENGTH} characters.`)
  }
  if (key === undefined && typeof key_sha256 === 'string' && /^[\da-f]{64}$/i.test(key_sha256)) {
    return Promise.resolve(
      Uint8Array.from(key_sha256.match(/../g)!, (hex) => Number.parseInt(hex, 16)).buffer,
    )
  }
  throw new Error(`${name} needs either \`key\` or \`key_sha256\`, 64 hexadecimal digits.`)
}

/** Returns the members that ADMIN_KEYS names. */
function parseAdminKeys(json: string): KeyHolder[] {
  const parsed: unknown = JSON.parse(json)
  if (!isObject(parsed)) throw new Error('It must be a JSON object with a name for each key.')
  return Object.entries(parsed).map(([name, named]) => {
    if (!NAME.test(name)) {
      throw new Error(
        'A name has 1 to 64 letters, digits, spaces or `.@+-_`, and no space at its ends.',
      )
    }
    const { role, ...key }: NamedKey = isObject(named) ? named : {}
    if (!isRole(role)) throw new Error(`${name} needs a \`role\`.`)
    // Cloudflare Access names the same person by this address, too.
    const actor = name.includes('@') ? name.toLowerCase() : name
    return { actor, role, digest: digestOf(name, key) }
  })
}

/**
 * Throws an Error if one person could be two: two names that differ by letter case, or a key under two names,
 * of which ADMIN_KEY is one.
 */
async function requireDistinct(holders: readonly KeyHolder[]): Promise<void> {
  const names = new Map<string, string>()
  const keys = new Map<string, string>()
  for (const { actor, digest } of holders) {
    const [name, key] = [actor.toLowerCase(), new Uint8Array(await digest).toHex()]
    const [sameName, sameKey] = [names.get(name), keys.get(key)]
    if (sameName) throw new Error(`${sameName} and ${actor} are the same name.`)
    if (sameKey) throw new Error(`${sameKey} and ${actor} have the same key.`)
    names.set(name, actor)
    keys.set(key, actor)
  }
}

/**
 * Returns the named members, or the error of the secret: a Worker reads it once. The error names what is
 * wrong. It never quotes a key.
 */
const namedMembers = memoizePerSecret((secrets: string) => {
  const [adminKey, json]: [string, string] = JSON.parse(secrets)
  const read = async () => {
    const members = json === '' ? [] : parseAdminKeys(json)
    await requireDistinct([adminKeyMember(adminKey), ...members])
    return { members, error: null }
  }
  return read().catch((error: unknown) => ({ members: [], error }))
})

const adminKeyMember = memoizePerSecret(
  (key: string): KeyHolder => ({ actor: ADMIN_KEY_ACTOR, role: 'approver', digest: sha256(key) }),
)

function adminKeyHolder({ ADMIN_KEY }: Env): KeyHolder {
  // If our own key is missing or can be guessed, respond 503, not 401.
  if (ADMIN_KEY && ADMIN_KEY.length >= MIN_KEY_LENGTH) return adminKeyMember(ADMIN_KEY)
  const cause = new Error(`The secret ADMIN_KEY has fewer than ${MIN_KEY_LENGTH} characters.`)
  throw badSecret('ADMIN_KEY', cause)
}

async function namedHolders({ ADMIN_KEY, ADMIN_KEYS = '' }: Env): Promise<readonly KeyHolder[]> {
  const { members, error } = await namedMembers(JSON.stringify([ADMIN_KEY, ADMIN_KEYS]))
  if (error) throw badSecret('ADMIN_KEYS', error)
  return members
}

async function present({ actor, role, digest }: KeyHolder): Promise<KeyMember> {
  const twice = await crypto.subtle.digest('SHA-256', await digest)
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
  const isHolder = async ({ digest }: KeyHolder) =>
    crypto.subtle.timingSafeEqual(sent, await digest)
  const first = adminKeyHolder(env)
  if (await isHolder(first)) return present(first)
  let found: KeyHolder | null = null
  for (const holder of await namedHolders(env)) if (await isHolder(holder)) found = holder
  return found && present(found)
}

/**
 * Returns the member with this name, as they are now; null if there is none.
 *
 * @throws ApiError `unavailable` if ADMIN_KEY or ADMIN_KEYS is unusable.
 */
export async function findByName(actor: string, env: Env): Promise<KeyMember | null> {
  const first = adminKeyHolder(env)
  if (actor === ADMIN_KEY_ACTOR) return present(first)
  const found = (await namedHolders(env)).find((one) => one.actor === actor)
  return found ? present(found) : null
}
