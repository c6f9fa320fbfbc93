import { createMiddleware } from 'hono/factory'
import { ApiError } from '../errors.ts'
import { isJwt } from './access-token.ts'
import { type AppEnv, authorize, type WeightOf } from './authorize.ts'
import { HMAC, hmacKeys } from './hmac-keys.ts'
import { newLookupLimit } from './lookup-limit.ts'
import {
  BASE62_OF_64_BITS,
  digest,
  isWellFormed,
  randomText,
  SECRET_LENGTH,
  toBase62,
  withChecksum,
} from './secret.ts'
import { brandTokenObjectName } from './token-gate.ts'

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

/**
 * Authenticates a brand by its Brand Token and applies the rate limit. A token with a wrong checksum
 * is refused without a look-up. Other tokens that the service did not make are looked up, but an isolate
 * looks up at most 10 of them per second, because each look-up opens an object. The response does not
 * reveal why a token is refused. `weightOf` returns how many requests of the limit a path costs.
 *
 * @throws ApiError `invalid_api_key`, `rate_limited`; `unavailable` if there are too many invented
 * tokens.
 */
export const apiKey = (weightOf: WeightOf) =>
  createMiddleware<AppEnv>(async function apiKey(c, next) {
    const key = c.req.header('x-api-key')
    if (key === undefined && c.req.header('Authorization')) throw invalidApiKey(WRONG_HEADER)
    if (key !== undefined && isJwt(key)) throw invalidApiKey(WRONG_CREDENTIAL)
    if (key === undefined || !isWellFormed(key, 'tbt')) throw invalidApiKey(INVALID)
    const tokenDigest = await digest(key)
    if (!validDigests.has(tokenDigest) && !(await isIssued(c.env.TRACKING_KEYS, key))) {
      countUncheckedLookup(Date.now())
    }
    const objectName = brandTokenObjectName(tokenDigest)
    const unknownToken = () => invalidApiKey(INVALID)
    await authorize(c, next, objectName, weightOf(c.req.path), unknownToken, (grant) => {
      remember(validDigests, tokenDigest, MAX_VALID_DIGESTS)
      return grant
    })
  })

/**
 * How many Brand Tokens without a valid code an isolate looks up per second. Such a token may have been
 * issued under a key that was removed since.
 */
const MAX_UNCHECKED_LOOKUPS = 10

const countUncheckedLookup = newLookupLimit(MAX_UNCHECKED_LOOKUPS, 'Brand Tokens')

/** The maximum number of valid tokens that an isolate remembers. */
const MAX_VALID_DIGESTS = 10_000

/** The digests of tokens that were valid: they need no check of their code. */
const validDigests = new Set<string>()

/** Adds a digest to a set. Clears the set first if it has `max` digests. */
export function remember(digests: Set<string>, added: string, max: number): void {
  if (digests.size >= max) digests.clear()
  digests.add(added)
}

const INVALID =
  'The Brand Token in the header `x-api-key` is missing, malformed, unknown or no longer valid.'

const WRONG_HEADER =
  'Send the Brand Token in the header `x-api-key`. The header `Authorization` is for partner firms.'

const WRONG_CREDENTIAL =
  'The header `x-api-key` contains an access token of a partner firm. Send a Brand Token, which starts with `tbt_`.'

const invalidApiKey = (detail: string) =>
  new ApiError('invalid_api_key', {
    detail,
    headers: { 'WWW-Authenticate': 'ApiKey realm="tracking", header="x-api-key"' },
  })
