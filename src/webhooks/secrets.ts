import { decryptText, encryptText } from '../platform/auth/encrypt.ts'
import { HMAC, hmacKeys } from '../platform/auth/hmac-keys.ts'
import { badSecret } from '../platform/errors.ts'

// The secrets of endpoints sign events, so a digest of them is not enough. They are encrypted under keys that are
// derived from TRACKING_KEYS, where old keys stay. Whoever has only the database cannot read a secret.

const PREFIX = 'whsec_'
const SECRET_BYTES = 32

const encoder = new TextEncoder()

/** Returns a new secret: `whsec_` and 32 random bytes in base64. */
export const newWebhookSecret = (): string =>
  PREFIX + crypto.getRandomValues(new Uint8Array(SECRET_BYTES)).toBase64()

/** An encrypted secret cannot be decrypted for another endpoint. No tracking key signs this purpose elsewhere. */
const useOf = (account: string, endpoint: string) => ({
  purpose: 'seal webhook secrets',
  context: JSON.stringify([account, endpoint]),
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
  return encryptText(first, useOf(account, endpoint), secret)
}

/** Returns the secret that was encrypted; null if no key decrypts it for this endpoint. */
export const decryptSecret = async (
  env: Env,
  account: string,
  endpoint: string,
  encrypted: string,
): Promise<string | null> =>
  decryptText(await hmacKeys(env.TRACKING_KEYS), useOf(account, endpoint), encrypted)

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
