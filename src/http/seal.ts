import { base64url } from 'jose'
import { isCanonical } from '../auth/canonical.ts'
import { memoizePerKeySet } from '../auth/key-cache.ts'

// What we hand out to get it back unchanged. The keys follow from the signing keys, so they rotate
// with them: the first seals, all open.

const keysOf = memoizePerKeySet((keys: { d: string }[]) =>
  Promise.all(
    keys.map(async ({ d }) => {
      // Without it anybody could seal.
      if (!d) throw new Error('A key has no private part.')
      const raw = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(`seal ${d}`))
      const hmac = { name: 'HMAC', hash: 'SHA-256' }
      return crypto.subtle.importKey('raw', raw, hmac, false, ['sign', 'verify'])
    }) as Promise<CryptoKey>[],
  ),
)

const bytesOf = (context: string, text: string) => new TextEncoder().encode(`${context}\n${text}`)

/** A text with proof that we wrote it, for this context and no other. */
export async function seal(env: Env, context: string, text: string): Promise<string> {
  const [key] = await keysOf(env.SIGNING_KEYS)
  const mac = await crypto.subtle.sign('HMAC', key!, bytesOf(context, text))
  return `${base64url.encode(text)}.${base64url.encode(new Uint8Array(mac))}`
}

/** The text that was sealed for this context, or null for anything else. */
export async function unseal(env: Env, context: string, sealed: string): Promise<string | null> {
  const [, body, mac] = /^([\w-]+)\.([\w-]{43})$/.exec(sealed) ?? []
  if (!body || !mac || !isCanonical(body) || !isCanonical(mac)) return null
  const text = new TextDecoder().decode(base64url.decode(body))
  const signature = base64url.decode(mac)
  for (const key of await keysOf(env.SIGNING_KEYS)) {
    if (await crypto.subtle.verify('HMAC', key, signature, bytesOf(context, text))) return text
  }
  return null
}
