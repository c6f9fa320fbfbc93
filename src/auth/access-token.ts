import { type CryptoKey, createLocalJWKSet, errors, importJWK, jwtVerify, SignJWT } from 'jose'
import { unavailable } from '../errors.ts'
import { isCanonical } from './canonical.ts'
import { memoizePerKeySet } from './key-cache.ts'

/** Seconds an access token lives. */
export const TOKEN_LIFETIME_SECONDS = 3600

const ALG = 'RS256'
const TYP = 'at+jwt'

/** Our origin, and a JWK set as JSON: its first key signs, all verify. */
export type Issuer = Pick<Env, 'BASE_URL' | 'SIGNING_KEYS'>

/** Whose token it is, and under which name its gate knows it. */
export interface Claims {
  client_id: string
  jti: string
  scope?: string
}

/** An RSA key as a JWK, of which the world may see this much. */
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
  /** What tokens say whose signature was found good: it stays so, and costs more than a small bulk. */
  verified: Map<string, Signed>
}

interface Signed extends Claims {
  iss: string
  exp: number
}

/** How many tokens an isolate remembers, the latest. */
const MAX_VERIFIED = 100

/**
 * Signs an access token with the seven claims; `now` is in milliseconds.
 *
 * @see [RFC 9068 §2](https://www.rfc-editor.org/rfc/rfc9068#section-2)
 */
export async function mintAccessToken(
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

/** When a token that was minted at `now` expires; both in milliseconds. */
export const expiryOf = (now: number) => (Math.floor(now / 1000) + TOKEN_LIFETIME_SECONDS) * 1000

/**
 * The claims of a token, or null for any that we did not mint or that has expired by `now`.
 *
 * @see [RFC 9068 §4](https://www.rfc-editor.org/rfc/rfc9068#section-4)
 */
export async function verifyAccessToken(
  token: string,
  issuer: Issuer,
  now: number,
): Promise<Claims | null> {
  const [, signature] = /^[\w-]+\.[\w-]+\.([\w-]+)$/.exec(token) ?? []
  if (signature === undefined || !isCanonical(signature)) return null
  const { verified, verifier } = await keysOf(issuer.SIGNING_KEYS)
  const known = verified.get(token)
  if (known && known.iss === issuer.BASE_URL) return known.exp * 1000 > now ? known : null
  try {
    const { payload } = await jwtVerify<Signed>(token, verifier, {
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
    if (error instanceof errors.JOSEError) return null
    throw unavailable(error)
  }
}

/** The public keys, as a JWK set. */
export const publicKeys = async (issuer: Issuer) => ({
  keys: (await keysOf(issuer.SIGNING_KEYS)).published,
})

const keysOf = memoizePerKeySet(
  async (keys: [PublicKey & { d?: string }, ...PublicKey[]]): Promise<Keys> => {
    if (!keys[0].d) throw new Error('The first key has no private part.')
    // Member by member: whatever else a key holds is secret.
    const published = keys.map(({ kty, kid, n, e }) => ({ kty, kid, n, e, alg: ALG, use: 'sig' }))
    // All are tried here: a key of ours that cannot be read would make its tokens look forged.
    const [signer] = await Promise.all(
      [keys[0], ...published].map((key) => importJWK({ ...key }, ALG)),
    )
    return {
      kid: keys[0].kid,
      signer: signer!,
      published,
      verifier: createLocalJWKSet({ keys: published }),
      verified: new Map(),
    }
  },
)
