import type { AffiliateView } from '../auth/affiliate-view.ts'
import { HMAC } from '../auth/hmac-keys.ts'
import { HIDDEN, type ViewContext, visible } from './view.ts'

/**
 * Returns the names under which an affiliate sees the customers of an answer. A pseudonym is a keyed digest
 * of the affiliate and the customer: it stays the same, and two affiliates cannot compare theirs.
 */
export async function nameCustomers(
  answer: object,
  view: AffiliateView,
  pseudonymKey: string,
  own: string,
): Promise<ViewContext['nameOf']> {
  if (view.customer_ids === 'plain') return (id) => id
  if (view.customer_ids === 'none') return () => HIDDEN
  const ids = new Set<string>()
  const collect = (id: string) => {
    ids.add(id)
    return id
  }
  visible(answer, { view, own, nameOf: collect })
  const key = await importKey(pseudonymKey)
  const names = new Map(
    await Promise.all([...ids].map(async (id) => [id, await pseudonymOf(key, own, id)] as const)),
  )
  return (id) => names.get(id) ?? HIDDEN
}

const importKey = (hex: string) =>
  crypto.subtle.importKey('raw', Uint8Array.fromHex(hex), HMAC, false, ['sign'])

/** The bytes of a pseudonym: two of a million customers of an affiliate are the same once in 10^16 accounts. */
const PSEUDONYM_BYTES = 12

async function pseudonymOf(
  key: Awaited<ReturnType<typeof importKey>>,
  own: string,
  id: string,
): Promise<string> {
  const message = new TextEncoder().encode(JSON.stringify([own, id]))
  const mac = new Uint8Array(await crypto.subtle.sign(HMAC, key, message))
  return `c_${mac.slice(0, PSEUDONYM_BYTES).toHex()}`
}
