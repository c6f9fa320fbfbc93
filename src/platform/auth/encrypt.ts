import { decodeBase64url, encodeBase64url } from './base64url.ts'

// Texts that are read again, so that a digest of them is not enough. They are encrypted with AES-256-GCM under
// keys that are derived from HMAC keys of the service: the first key encrypts, and all keys decrypt.

const NONCE_BYTES = 12

const encoder = new TextEncoder()

/** What an encrypted text is for. */
interface Use {
  /** What the key signs to derive the encryption key: a text that it signs for nothing else. */
  readonly purpose: string
  /** Where the text belongs: it cannot be decrypted for another place. */
  readonly context: string
}

const encryptionKey = async (key: CryptoKey, purpose: string): Promise<CryptoKey> => {
  const raw = await crypto.subtle.sign('HMAC', key, encoder.encode(purpose))
  return crypto.subtle.importKey('raw', raw, 'AES-GCM', false, ['encrypt', 'decrypt'])
}

const parametersOf = (iv: Uint8Array<ArrayBuffer>, context: string) => ({
  name: 'AES-GCM',
  iv,
  additionalData: encoder.encode(context),
})

/** Returns a text in encrypted form: `v1.{nonce}.{ciphertext}`. */
export async function encryptText(key: CryptoKey, use: Use, text: string): Promise<string> {
  const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES))
  const encrypted = await crypto.subtle.encrypt(
    parametersOf(iv, use.context),
    await encryptionKey(key, use.purpose),
    encoder.encode(text),
  )
  return `v1.${encodeBase64url(iv)}.${encodeBase64url(new Uint8Array(encrypted))}`
}

/** Returns the text that was encrypted; null if no key decrypts it for this use. */
export async function decryptText(
  keys: readonly CryptoKey[],
  use: Use,
  encrypted: string,
): Promise<string | null> {
  const [version, nonce = '', text = ''] = encrypted.split('.')
  const iv = decodeBase64url(nonce)
  const bytes = decodeBase64url(text)
  if (version !== 'v1' || !iv || !bytes) return null
  const parameters = parametersOf(new Uint8Array(iv), use.context)
  for (const key of keys) {
    try {
      const decrypted = await crypto.subtle.decrypt(
        parameters,
        await encryptionKey(key, use.purpose),
        new Uint8Array(bytes),
      )
      return new TextDecoder().decode(decrypted)
    } catch {
      // Another key encrypted it.
    }
  }
  return null
}
