import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { pathToFileURL } from 'node:url'
import { calculateJwkThumbprint, type JWK } from 'jose'

/** A JWK set with one fresh RS256 key, as the secret SIGNING_KEYS takes it. */
export async function newKeySet(): Promise<string> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const key = privateKey.export({ format: 'jwk' }) as JWK
  return JSON.stringify({ keys: [{ ...key, kid: await calculateJwkThumbprint(key) }] })
}

/** A JWK set with one fresh key of 256 bits, as the secret TRACKING_KEYS takes it. */
export function newTrackingKeys(): string {
  const k = randomBytes(32).toString('base64url')
  return JSON.stringify({ keys: [{ kty: 'oct', kid: randomBytes(4).toString('hex'), k }] })
}

if (import.meta.url === pathToFileURL(process.argv[1]!).href) {
  // `npm run -s keys` signs access tokens, `npm run -s keys -- tracking` signs tracking_data.
  console.log(process.argv[2] === 'tracking' ? newTrackingKeys() : await newKeySet())
}
