import { HMAC, hmacKeys } from './hmac-keys.ts'
import { BASE62_OF_64_BITS, randomText, SECRET_LENGTH, toBase62, withChecksum } from './secret.ts'

// The last 11 of the 43 characters of a Brand Token are a code that only the service can make. Anyone
// can compute the checksum of an invented token; without the code, each invented token
// would open an object.

const RANDOM_LENGTH = SECRET_LENGTH - BASE62_OF_64_BITS

/**
 * Returns a new Brand Token: 190 random bits, and a code of 64 bits that `isIssued` checks; without keys,
 * 64 random bits in place of the code.
 */
export async function newBrandToken(keys: string, mode: 'live' | 'test'): Promise<string> {
  const [key] = await hmacKeys(keys)
  const start = `tbt_${mode}_${randomText(RANDOM_LENGTH)}`
  return withChecksum(start + (key ? await codeOf(key, start) : randomText(BASE62_OF_64_BITS)))
}

/**
 * Returns whether one of the keys made the code of a well-formed Brand Token. Tokens that a removed key
 * made fail as well. Only the token's object knows whether it is valid.
 */
export async function isIssued(keys: string, token: string): Promise<boolean> {
  const start = token.slice(0, 'tbt_live_'.length + RANDOM_LENGTH)
  const code = token.slice(start.length, start.length + BASE62_OF_64_BITS)
  // A plain comparison is safe: a guessed code gives no access.
  for (const key of await hmacKeys(keys)) if ((await codeOf(key, start)) === code) return true
  return false
}

/** Returns the code of the start of a token. No text that these keys sign elsewhere begins like this. */
async function codeOf(key: CryptoKey, start: string): Promise<string> {
  const message = new TextEncoder().encode(`brand-token ${start}`)
  const mac = await crypto.subtle.sign(HMAC, key, message)
  return toBase62(new DataView(mac).getBigUint64(0))
}
