import { memoizePerKeySet } from '../auth/key-cache.ts'

// What `tracking_data` is made of: a prefix, and 33 bytes in base64url, so that each byte matters and
// each character does. 47 characters, of at most 50 that are returned.
//
//   link (6 bytes, 8 characters)  click (5 of time and 4 of chance, 12 characters)
//   account (5 bytes)  affiliate (3 bytes)  signature (10 bytes)
//
// Account and affiliate are the first bytes of a SHA-256: enough to tell that it is another one.

/** How all begins that we give out. */
export const PREFIX = 'tr1'

const LINK = 6
const CLICK = 9
const ACCOUNT = 5
const AFFILIATE = 3
const SIGNATURE = 10

/** Three bytes are four characters. */
const charactersOf = (bytes: number) => (bytes / 3) * 4
const LINK_END = charactersOf(LINK)
const CLICK_END = charactersOf(LINK + CLICK)

/** How long a code is behind its prefix. */
export const BODY_LENGTH = charactersOf(LINK + CLICK + ACCOUNT + AFFILIATE + SIGNATURE)

const BODY_PATTERN = new RegExp(`^[\\w-]{${BODY_LENGTH}}$`)
const LINK_ID_PATTERN = new RegExp(`^[\\w-]{${LINK_END}}$`)

/** Whether a link may have this id. */
export const isLinkId = (text: string) => LINK_ID_PATTERN.test(text)

/** Times are counted from here, in milliseconds: five bytes of them last until 2060. */
const EPOCH = Date.UTC(2026, 0, 1)

/** Whose link was followed, and whom it pays. */
export interface LinkOrigin {
  link_id: string
  account: string
  affiliate_id: string
}

/** What `tracking_data` says by itself. */
export interface TrackingCode {
  link_id: string
  click_id: string
  account: string
  affiliate: string
}

/** A new link's id: 48 bits of chance. */
export const newLinkId = () => toText(crypto.getRandomValues(new Uint8Array(LINK)))

/** A new click's id, which begins with its time (milliseconds). */
export function newClickId(now: number): string {
  const bytes = crypto.getRandomValues(new Uint8Array(CLICK))
  let rest = Math.max(0, now - EPOCH)
  for (let i = 4; i >= 0; i--, rest = Math.floor(rest / 256)) bytes[i] = rest % 256
  return toText(bytes)
}

/** What a landing page is given for one click, signed by the first key. */
export async function encodeTrackingCode(
  keys: string,
  { link_id, account, affiliate_id }: LinkOrigin,
  click_id: string,
): Promise<string> {
  const [key] = await keysOf(keys)
  const whose = await Promise.all([tagOf(account, ACCOUNT), tagOf(affiliate_id, AFFILIATE)])
  const said = Uint8Array.of(...toBytes(link_id + click_id), ...whose.flatMap((tag) => [...tag]))
  return PREFIX + toText(Uint8Array.of(...said, ...(await sign(key!, said))))
}

/** What such a text says, or null where no key has signed it; all keys verify. */
export async function decodeTrackingCode(keys: string, text: string): Promise<TrackingCode | null> {
  const body = text.slice(PREFIX.length)
  if (!text.startsWith(PREFIX) || !BODY_PATTERN.test(body)) return null
  const bytes = toBytes(body)
  const said = bytes.subarray(0, -SIGNATURE)
  for (const key of await keysOf(keys)) {
    const signature = await sign(key, said)
    if (!areEqual(signature, bytes.subarray(-SIGNATURE))) continue
    const whose = said.subarray(LINK + CLICK)
    return {
      link_id: body.slice(0, LINK_END),
      click_id: body.slice(LINK_END, CLICK_END),
      account: toText(whose.subarray(0, ACCOUNT)),
      affiliate: toText(whose.subarray(ACCOUNT)),
    }
  }
  return null
}

/** How an account is called in a code. */
export const accountTag = async (account: string) => toText(await tagOf(account, ACCOUNT))

/** How an affiliate is called in a code. */
export const affiliateTag = async (affiliate: string) => toText(await tagOf(affiliate, AFFILIATE))

/** The keys of TRACKING_KEYS: a JWK set, of kind `oct`. */
const keysOf = memoizePerKeySet((keys: JsonWebKey[]) =>
  Promise.all(
    keys.map(({ k, kty }) =>
      crypto.subtle.importKey('jwk', { k, kty } as JsonWebKey, HMAC, false, ['sign']),
    ),
  ),
)

type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>

const HMAC = { name: 'HMAC', hash: 'SHA-256' }

/** In constant time: how much of a guess is right must not show. */
const areEqual = (own: Uint8Array, sent: Uint8Array) =>
  own.reduce((difference, byte, i) => difference | (byte ^ sent[i]!), 0) === 0

async function sign(key: Key, said: Uint8Array): Promise<Uint8Array> {
  const mac = await crypto.subtle.sign(HMAC, key, Uint8Array.of(...encoder.encode(PREFIX), ...said))
  return new Uint8Array(mac, 0, SIGNATURE)
}

async function tagOf(name: string, length: number): Promise<Uint8Array> {
  const hash = await crypto.subtle.digest('SHA-256', encoder.encode(name))
  return new Uint8Array(hash, 0, length)
}

const encoder = new TextEncoder()

const toText = (bytes: Uint8Array) =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')

const toBytes = (text: string) =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (char) =>
    char.charCodeAt(0),
  )
