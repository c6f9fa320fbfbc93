import { generateKeyPairSync } from 'node:crypto'
import { pathToFileURL } from 'node:url'
import { calculateJwkThumbprint, type JWK } from 'jose'

/** A JWK set with one fresh RS256 key, as the secret SIGNING_KEYS takes it. */
export async function newKeySet(): Promise<string> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const key = privateKey.export({ format: 'jwk' }) as JWK
  return JSON.stringify({ keys: [{ ...key, kid: await calculateJwkThumbprint(key) }] })
}

if (import.meta.url === pathToFileURL(process.argv[1]!).href) console.log(await newKeySet())
