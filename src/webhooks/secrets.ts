import { decodeBase64url, encodeBase64url } from '../auth/base64url.ts'
import { HMAC, hmacKeys } from '../auth/hmac-keys.ts'
import { badSecret } from '../errors.ts'

// The secrets of endpoints sign events, so a digest of them is not enough. They are encrypted with
// AES-256-GCM under keys that are derived from TRACKING_KEYS: the first key encrypts, and all keys decrypt,
// because old keys stay in the set. Whoever has only the database cannot read a secret.

const PREFIX = 'whsec_'
const SECRET_BYTES = 32
const NONCE_BYTES = 12

const encoder = new TextEncoder()

/** Returns a new secret: `whsec_` and 32 random bytes in base64. */
export const newWebhookSecret = (): string =>
  PREFIX + crypto.getRandomValues(new Uint8Array(SECRET_BYTES)).toBase64()

/** Derives the encryption key from a tracking key. No other use of the tracking keys signs this text. */
const encryptionKey = async (key: CryptoKey): Promise<CryptoKey> => {
  const raw = await crypto.subtle.sign('HMAC', key, encoder.encode('seal webhook secrets'))
  return crypto.subtle.importKey('raw', raw, 'AES-GCM', false, ['encrypt', 'decrypt'])
}

/** The account and the endpoint are authenticated, so an encrypted secret cannot be decrypted in another row. */
const parametersOf = (iv: Uint8Array<ArrayBuffer>, account: string, endpoint: string) => ({
  name: 'AES-GCM',
  iv,
  additionalData: encoder.encode(JSON.stringify([account, endpoint])),
})

/**
 * Returns a secret in the form in which an endpoint stores it: `v1.{nonce}.{ciphertext}`.
 *
 * @throws ApiError `unavailable` if TRACKING_KEYS is missing or unreadable.
 */
export async function encryptSecret(
  env: Env,
  account: string,
  endpoint: string,
  secret: string,
): Promise<string> {
  const [first] = await hmacKeys(env.TRACKING_KEYS)
  if (!first) throw badSecret('TRACKING_KEYS')
  const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES))
  const parameters = parametersOf(iv, account, endpoint)
  const text = encoder.encode(secret)
  const encrypted = await crypto.subtle.encrypt(parameters, await encryptionKey(first), text)
  return `v1.${encodeBase64url(iv)}.${encodeBase64url(new Uint8Array(encrypted))}`
}

/** Returns the secret that was encrypted; null if no key decrypts it for this endpoint. */
export async function decryptSecret(
  env: Env,
  account: string,
  endpoint: string,
  encrypted: string,
): Promise<string | null> {
  const [version, nonce = '', text = ''] = encrypted.split('.')
  const iv = decodeBase64url(nonce)
  const bytes = decodeBase64url(text)
  if (version !== 'v1' || !iv || !bytes) return null
  const parameters = parametersOf(new Uint8Array(iv), account, endpoint)
  for (const key of await hmacKeys(env.TRACKING_KEYS)) {
    try {
      const secret = await crypto.subtle.decrypt(
        parameters,
        await encryptionKey(key),
        new Uint8Array(bytes),
      )
      return new TextDecoder().decode(secret)
    } catch {
      // Another key encrypted it.
    }
  }
  return null
}

/**
 * Returns the header `webhook-signature` of a message: a signature for each secret, separated by spaces.
 *
 * @see [Standard Webhooks](https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md)
 */
export async function signMessage(
  secrets: readonly string[],
  { id, timestamp, body }: { id: string; timestamp: number; body: string },
): Promise<string> {
  const content = encoder.encode(`${id}.${timestamp}.${body}`)
  const signatures = secrets.map(async (secret) => {
    const raw = Uint8Array.fromBase64(secret.slice(PREFIX.length))
    const key = await crypto.subtle.importKey('raw', raw, HMAC, false, ['sign'])
    return `v1,${new Uint8Array(await crypto.subtle.sign('HMAC', key, content)).toBase64()}`
  })
  return (await Promise.all(signatures)).join(' ')
}
