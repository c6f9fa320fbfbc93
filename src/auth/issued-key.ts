import { HMAC, hmacKeys } from './hmac-keys.ts'
import { newLookupLimit } from './lookup-limit.ts'
import {
  BASE62_OF_64_BITS,
  digest,
  randomText,
  SECRET_LENGTH,
  toBase62,
  withChecksum,
} from './secret.ts'

// Keys that a caller sends as they are: Brand Tokens and the keys of affiliates. The last 11 of their 43
// characters are a code that only the service can make. Anyone can compute the checksum of an invented key;
// without the code, each invented key would open an object.

/** The prefix of such a key, and what its code signs: no text that these keys sign elsewhere begins like this. */
const PURPOSES = { tbt: 'brand-token', taf: 'affiliate-key' } as const

type IssuedPrefix = keyof typeof PURPOSES

const RANDOM_LENGTH = SECRET_LENGTH - BASE62_OF_64_BITS

/**
 * Returns a new key: 190 random bits, and a code of 64 bits that `isIssued` checks; without keys, 64 random
 * bits in place of the code.
 */
export async function newIssuedKey(
  keys: string,
  prefix: IssuedPrefix,
  mode: 'live' | 'test',
): Promise<string> {
  const [key] = await hmacKeys(keys)
  const start = `${prefix}_${mode}_${randomText(RANDOM_LENGTH)}`
  return withChecksum(start + (key ? await codeOf(key, start) : randomText(BASE62_OF_64_BITS)))
}

/**
 * Returns whether one of the keys made the code of a well-formed key. Those that a removed key made fail as
 * well. Only its object knows whether it is valid.
 */
export async function isIssued(keys: string, issued: string): Promise<boolean> {
  const start = issued.slice(0, 'tbt_live_'.length + RANDOM_LENGTH)
  const code = issued.slice(start.length, start.length + BASE62_OF_64_BITS)
  // A plain comparison is safe: a guessed code gives no access.
  for (const key of await hmacKeys(keys)) if ((await codeOf(key, start)) === code) return true
  return false
}

/** Returns the code of the start of a key. */
async function codeOf(key: CryptoKey, start: string): Promise<string> {
  const purpose = start.startsWith('taf_') ? PURPOSES.taf : PURPOSES.tbt
  const message = new TextEncoder().encode(`${purpose} ${start}`)
  const mac = await crypto.subtle.sign(HMAC, key, message)
  return toBase62(new DataView(mac).getBigUint64(0))
}

/**
 * How many keys without a valid code an isolate looks up per second. Such a key may have been issued under a
 * key of the service that was removed since.
 */
const MAX_UNCHECKED_LOOKUPS = 10

/** The maximum number of valid keys that an isolate remembers. */
const MAX_VALID_DIGESTS = 10_000

/** The keys of one kind as an isolate knows them. */
export interface KnownKeys {
  /**
   * Returns the digest of a well-formed key, which names its object.
   *
   * @throws ApiError `unavailable` if there are too many invented keys.
   */
  readonly digestOf: (keys: string, key: string) => Promise<string>
  /** Remembers that the key with this digest was valid: it needs no check of its code. */
  readonly accept: (digest: string) => void
}

/** Returns the memory of an isolate for keys of one kind. `subject` names them, for the log. */
export function newKnownKeys(subject: string): KnownKeys {
  const countUncheckedLookup = newLookupLimit(MAX_UNCHECKED_LOOKUPS, subject)
  const validDigests = new Set<string>()
  return {
    async digestOf(keys, key) {
      const found = await digest(key)
      if (!validDigests.has(found) && !(await isIssued(keys, key))) countUncheckedLookup(Date.now())
      return found
    },
    accept: (found) => remember(validDigests, found, MAX_VALID_DIGESTS),
  }
}

/** Adds a digest to a set. Clears the set first if it has `max` digests. */
export function remember(digests: Set<string>, added: string, max: number): void {
  if (digests.size >= max) digests.clear()
  digests.add(added)
}
