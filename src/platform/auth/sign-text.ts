import { decodeBase64url, encodeBase64url } from './base64url.ts'
import { HMAC } from './hmac-keys.ts'
import { memoizePerKeySet } from './key-cache.ts'

// Cursors are signed so that callers return them unchanged. The keys are derived from the signing
// keys and rotate with them: the first key signs, and all keys verify.

const encoder = new TextEncoder()

const keysOf = memoizePerKeySet(
  'SIGNING_KEYS',
  ([first, ...others]: [PrivateKey, ...PrivateKey[]]) =>
    Promise.all([macKey(first), ...others.map(macKey)]),
)

/** Returns keys that are derived from the signing keys: the first one signs, and all verify. */
export const signingMacs = (env: Env) => keysOf(env.SIGNING_KEYS)

interface PrivateKey {
  d: string
}

async function macKey({ d }: PrivateKey) {
  // Anyone could derive the key from an empty `d`.
  if (!d) throw new Error('A signing key has no private part.')
  const raw = await crypto.subtle.digest('SHA-256', encoder.encode(`seal ${d}`))
  return crypto.subtle.importKey('raw', raw, HMAC, false, ['sign', 'verify'])
}

const bytesOf = (context: string, text: string) => encoder.encode(`${context}\n${text}`)

/** Returns a text with a signature that is only valid for this context. */
export async function signText(env: Env, context: string, text: string): Promise<string> {
  const [key] = await signingMacs(env)
  const mac = await crypto.subtle.sign('HMAC', key, bytesOf(context, text))
  return `${encodeBase64url(encoder.encode(text))}.${encodeBase64url(new Uint8Array(mac))}`
}

/** Returns the text that was signed for this context, or null if the signature is not valid. */
export async function verifyText(
  env: Env,
  context: string,
  signed: string,
): Promise<string | null> {
  const [, body, mac] = /^([\w-]+)\.([\w-]{43})$/.exec(signed) ?? []
  const bytes = body === undefined ? null : decodeBase64url(body)
  const signature = mac === undefined ? null : decodeBase64url(mac)
  if (!bytes || !signature) return null
  const text = new TextDecoder().decode(bytes)
  for (const key of await signingMacs(env)) {
    if (await crypto.subtle.verify('HMAC', key, signature, bytesOf(context, text))) return text
  }
  return null
}
