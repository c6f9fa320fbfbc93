import { memoizePerKeySet } from './key-cache.ts'

// The keys of TRACKING_KEYS: for tracking codes, and for codes that must stay valid for years.
// Old keys stay in this set. Each kind of message begins with a text of its own, so that the code of
// one kind is never valid for another.

/** The algorithm of these keys. */
export const HMAC = { name: 'HMAC', hash: 'SHA-256' }

/** A key of TRACKING_KEYS, a JWK set of kind `oct`, as far as HMAC needs it. */
interface OctetKey {
  k: string
  kty: string
}

/** A key of TRACKING_KEYS that can sign. */
export type HmacKey = Awaited<ReturnType<typeof importKey>>

/** Imports the keys of TRACKING_KEYS; the first one signs. */
export const importKeys = memoizePerKeySet(
  'TRACKING_KEYS',
  async ([first, ...others]: [OctetKey, ...OctetKey[]]): Promise<[HmacKey, ...HmacKey[]]> => [
    await importKey(first),
    ...(await Promise.all(others.map(importKey))),
  ],
)

/**
 * Returns the keys of TRACKING_KEYS. Returns no keys if the secret is missing or unreadable, so that
 * deliveries that do not need a key still work.
 */
export const hmacKeys = (keys: string): Promise<HmacKey[]> => importKeys(keys).catch(() => [])

// Only these members: the set may hold others, which `importKey` would check.
const importKey = ({ k, kty }: OctetKey) =>
  crypto.subtle.importKey('jwk', { k, kty }, HMAC, false, ['sign'])
