import { type CryptoKey, createLocalJWKSet, importJWK, jwtVerify, SignJWT } from 'jose'
import { JOSEError } from 'jose/errors'
import { unavailable } from '../errors.ts'
import { decodeBase64url } from './base64url.ts'
import { memoizePerKeySet } from './key-cache.ts'

/** The lifetime of an access token in seconds. */
export const TOKEN_LIFETIME_SECONDS = 3600

const ALG = 'RS256'
const TYP = 'at+jwt'

/** Our origin and the JWK set, as JSON: its first key signs, all keys verify. */
export type Issuer = Pick<Env, 'BASE_URL' | 'SIGNING_KEYS'>

/** The claims that identify a token's client and its Durable Object, which is named by `jti`. */
export interface Claims {
  client_id: string
  jti: string
  scope?: string
}

/** The public part of an RSA key. */
interface PublicKey {
  kty: string
  kid: string
  n: string
  e: string
  alg: string
  use: string
}

interface Keys {
  kid: string
  signer: CryptoKey | Uint8Array
  published: PublicKey[]
  verifier: ReturnType<typeof createLocalJWKSet>
  /** Verified tokens. Verifying a signature again would cost more than storing a small bulk. */
  verified: Map<string, VerifiedClaims>
}

interface VerifiedClaims extends Claims {
  iss: string
  exp: number
}

/** How many verified tokens an isolate remembers; the oldest are dropped. */
const MAX_VERIFIED = 100

/**
 * Signs an access token with the seven required claims. `now` is in milliseconds.
 *
 * @see [RFC 9068 §2](https://www.rfc-editor.org/rfc/rfc9068#section-2)
 */
export async function issueAccessToken(
  claims: Claims,
  issuer: Issuer,
  now: number,
): Promise<string> {
  const { kid, signer } = await keysOf(issuer.SIGNING_KEYS)
  const issuedAt = Math.floor(now / 1000)
  return new SignJWT({ ...claims, sub: claims.client_id })
    .setProtectedHeader({ alg: ALG, typ: TYP, kid })
    .setIssuer(issuer.BASE_URL)
    .setAudience(issuer.BASE_URL)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + TOKEN_LIFETIME_SECONDS)
    .sign(signer)
}

/** Returns when a token that is issued at `now` expires; both are in milliseconds. */
export const expiryOf = (now: number) => (Math.floor(now / 1000) + TOKEN_LIFETIME_SECONDS) * 1000

/** Returns whether a text has the form of a signed JWT: three parts of base64url. */
export const isJwt = (text: string) => /^[\w-]+\.[\w-]+\.[\w-]+$/.test(text)

/**
 * Returns the claims of a token, or null if we did not sign it or it has expired at `now`
 * (milliseconds). Does not check whether it was revoked.
 *
 * @see [RFC 9068 §4](https://www.rfc-editor.org/rfc/rfc9068#section-4)
 * @throws ApiError `unavailable` if the signing keys cannot be read.
 */
export async function verifyAccessToken(
  token: string,
  issuer: Issuer,
  now: number,
): Promise<Claims | null> {
  if (!isJwt(token)) return null
  const { verified, verifier } = await keysOf(issuer.SIGNING_KEYS)
  const cached = verified.get(token)
  if (cached && cached.iss === issuer.BASE_URL) return cached.exp * 1000 > now ? cached : null
  const signature = token.slice(token.lastIndexOf('.') + 1)
  // jose ignores unused bits of the signature: a changed token would count as another one.
  if (!decodeBase64url(signature)) return null
  try {
    const { payload } = await jwtVerify<VerifiedClaims>(token, verifier, {
      issuer: issuer.BASE_URL,
      audience: issuer.BASE_URL,
      algorithms: [ALG],
      typ: TYP,
      currentDate: new Date(now),
      requiredClaims: ['client_id', 'sub', 'jti', 'iat', 'exp'],
    })
    verified.set(token, payload)
    for (const oldest of [...verified.keys()].slice(0, -MAX_VERIFIED)) verified.delete(oldest)
    return payload
  } catch (error) {
    if (error instanceof JOSEError) return null
    throw unavailable(error)
  }
}

/** Returns the public keys as a JWK set. */
export const publicKeys = async (issuer: Issuer) => ({
  keys: (await keysOf(issuer.SIGNING_KEYS)).published,
})

const keysOf = memoizePerKeySet(
  'SIGNING_KEYS',
  async (keys: [PublicKey & { d?: string }, ...PublicKey[]]): Promise<Keys> => {
    const [signingKey] = keys
    if (!signingKey.d) throw new Error('The first signing key has no private part.')
    // Copied member by member: every other member of a key is secret.
    const published = keys.map(({ kty, kid, n, e }) => ({ kty, kid, n, e, alg: ALG, use: 'sig' }))
    // Imports every key now: with an unreadable key, its valid tokens would be refused as forged.
    const [signer] = await Promise.all([
      importJWK({ ...signingKey }, ALG),
      ...published.map((key) => importJWK({ ...key }, ALG)),
    ])
    return {
      kid: signingKey.kid,
      signer,
      published,
      verifier: createLocalJWKSet({ keys: published }),
      verified: new Map(),
    }
  },
)
