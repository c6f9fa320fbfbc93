import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { pathToFileURL } from 'node:url'
import { Argument } from 'commander'
import { calculateJwkThumbprint, type JWK } from 'jose'
import { parseCommand } from './command-line.ts'

/** Returns a JWK set with one new RS256 key: a value for the secret SIGNING_KEYS. */
export async function newKeySet(): Promise<string> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const key = privateKey.export({ format: 'jwk' }) as JWK
  return JSON.stringify({ keys: [{ ...key, kid: await calculateJwkThumbprint(key) }] })
}

/** Returns a JWK set with one new 256-bit key: a value for the secret TRACKING_KEYS. */
export function newTrackingKeys(): string {
  const k = randomBytes(32).toString('base64url')
  return JSON.stringify({ keys: [{ kty: 'oct', kid: randomBytes(4).toString('hex'), k }] })
}

if (import.meta.url === pathToFileURL(process.argv[1]!).href) {
  const { args } = parseCommand(
    'npm run -s keys',
    'Prints a new JWK set: a value for SIGNING_KEYS, which signs access tokens, or for TRACKING_KEYS.',
    (command) =>
      command.addArgument(
        new Argument('[kind]').choices(['signing', 'tracking']).default('signing'),
      ),
  )
  console.log(args[0] === 'tracking' ? newTrackingKeys() : await newKeySet())
}
