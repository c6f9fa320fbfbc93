import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { pathToFileURL } from 'node:url'
import { calculateJwkThumbprint, type JWK } from 'jose'
import { misused } from './said.ts'

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
  const [kind, ...more] = process.argv.slice(2)
  if ((kind !== undefined && kind !== 'tracking') || more.length > 0) {
    misused('npm run -s keys, or npm run -s keys -- tracking: it takes nothing else.')
  }
  console.log(kind === 'tracking' ? newTrackingKeys() : await newKeySet())
}
