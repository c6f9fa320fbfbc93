import type { AffiliateView } from '../platform/auth/affiliate-view.ts'
import { HMAC } from '../platform/auth/hmac-keys.ts'
import { HIDDEN, type NamedKind, type ViewContext, visible } from './view.ts'

// What an affiliate sees in place of the ids that the firm makes from ids of customers. The ids of lines and of
// adjustments are digests of their scope, and checksums of statements cover it: whoever guesses the id of a
// customer could compute them without a key, and so confirm the guess. So an affiliate sees all of them under
// names that only the key of the account makes.

/** A key of the account, as one affiliate's names need it. */
interface NameKeys {
  readonly own: string
  readonly mac: CryptoKey
  readonly lines: CryptoKey
}

const encoder = new TextEncoder()

/** The cipher of the ids of lines: its 256-bit key is a keyed digest of the affiliate. */
const AES = 'AES-CBC'

const importMac = (hex: string) =>
  crypto.subtle.importKey('raw', Uint8Array.fromHex(hex), HMAC, false, ['sign'])

const signValues = async (mac: CryptoKey, values: readonly string[]): Promise<Uint8Array> =>
  new Uint8Array(await crypto.subtle.sign(HMAC, mac, encoder.encode(JSON.stringify(values))))

async function importKeys(pseudonymKey: string, own: string): Promise<NameKeys> {
  const mac = await importMac(pseudonymKey)
  const raw = await signValues(mac, ['lines', own, ''])
  const lines = await crypto.subtle.importKey('raw', raw, AES, false, ['encrypt', 'decrypt'])
  return { own, mac, lines }
}

/**
 * Returns what an affiliate sees of an answer, with the names that it needs. A pseudonym is a keyed digest of the
 * affiliate and the customer: it stays the same, and two affiliates cannot compare theirs.
 */
export async function viewContextOf(
  answer: object,
  view: AffiliateView,
  pseudonymKey: string,
  own: string,
): Promise<ViewContext> {
  const wanted = new Map<string, readonly [id: string, kind: NamedKind]>()
  const collect: ViewContext['nameOf'] = (id, kind) => {
    wanted.set(`${kind} ${id}`, [id, kind])
    return id
  }
  visible(answer, { view, own, nameOf: collect })
  const keys = await importKeys(pseudonymKey, own)
  const names = new Map(
    await Promise.all(
      [...wanted].map(
        async ([key, [id, kind]]) => [key, await NAMES[kind](keys, id, view)] as const,
      ),
    ),
  )
  return { view, own, nameOf: (id, kind) => names.get(`${kind} ${id}`) ?? HIDDEN }
}

type MakeName = (keys: NameKeys, id: string, view: AffiliateView) => string | Promise<string>

/** How each kind of id is named. How customers are named is a setting; digests of their ids always have a key. */
const NAMES: Readonly<Record<NamedKind, MakeName>> = {
  customer(keys, id, { customer_ids }) {
    if (customer_ids === 'plain') return id
    return customer_ids === 'none' ? HIDDEN : pseudonymOf(keys, id)
  },
  line: sealLine,
  hash: async ({ own, mac }, hash) => (await signValues(mac, ['hash', own, hash])).toHex(),
}

/** The bytes of a pseudonym: two of a million customers of an affiliate are the same once in 10^16 accounts. */
const PSEUDONYM_BYTES = 12

async function pseudonymOf({ own, mac }: NameKeys, id: string): Promise<string> {
  const digits = await signValues(mac, [own, id])
  return `c_${digits.slice(0, PSEUDONYM_BYTES).toHex()}`
}

/** An id of a line or an adjustment: its prefix, the digits of its statement, and its own. */
const LINE = /^(lin_|adj_)([\da-f]{24})([\da-f]{16})$/

/** The form in which affiliates see it. */
const SEALED = /^(lin_|adj_)([\da-f]{24})([\da-f]{32})$/

/** Returns the parameters of the cipher: the prefix and the digits of the statement are its vector. */
const cipherOf = (prefix: string, statement: string) => ({
  name: AES,
  iv: new Uint8Array([...encoder.encode(prefix), ...Uint8Array.fromHex(statement)]),
})

/** Returns the id under which an affiliate sees a line. Its own digits are encrypted, so that they can be read. */
async function sealLine({ lines }: NameKeys, id: string): Promise<string> {
  const [, prefix, statement, digits] = LINE.exec(id) ?? []
  if (prefix === undefined || statement === undefined || digits === undefined) return HIDDEN
  const cipher = cipherOf(prefix, statement)
  const sealed = await crypto.subtle.encrypt(cipher, lines, Uint8Array.fromHex(digits))
  return prefix + statement + new Uint8Array(sealed).toHex()
}

/**
 * Returns the id of the line or adjustment that an affiliate sees under `shown`; null if there cannot be one. The
 * firm's own id is refused: it would tell whether a line for a guessed customer exists.
 */
export async function openLineId(
  pseudonymKey: string,
  own: string,
  shown: string,
): Promise<string | null> {
  const [, prefix, statement, digits] = SEALED.exec(shown) ?? []
  if (prefix === undefined || statement === undefined || digits === undefined) return null
  const { lines } = await importKeys(pseudonymKey, own)
  const opened = await crypto.subtle
    .decrypt(cipherOf(prefix, statement), lines, Uint8Array.fromHex(digits))
    .catch(() => null)
  const id = opened && prefix + statement + new Uint8Array(opened).toHex()
  return id !== null && LINE.test(id) ? id : null
}
