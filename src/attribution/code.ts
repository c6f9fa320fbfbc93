import { base64url } from 'jose'
import { HMAC, type HmacKey, importKeys } from '../platform/auth/hmac-keys.ts'
import { CLICK_EPOCH } from './db/clicks.ts'

// The layout of `tracking_data`: a prefix, then 33 bytes in base64url, so that every character counts.
// 47 characters, of at most 50 that are returned.
//
//   link (6 bytes, 8 characters)  click (5 of time and 4 random, 12 characters)
//   account (5 bytes)  affiliate (3 bytes)  signature (10 bytes)
//
// Account and affiliate are the first bytes of a SHA-256, enough to recognize another account.

/** The start of every code. */
export const PREFIX = 'tr1'

const LINK_BYTES = 6
const CLICK_BYTES = 9
const TIME_BYTES = 5
const ACCOUNT_BYTES = 5
const AFFILIATE_BYTES = 3
const SIGNATURE_BYTES = 10

/** Returns the base64url length of a multiple of three bytes. */
const encodedLength = (bytes: number) => (bytes / 3) * 4
const LINK_END = encodedLength(LINK_BYTES)
const CLICK_END = encodedLength(LINK_BYTES + CLICK_BYTES)

/** The length of a code after its prefix, in characters. */
export const BODY_LENGTH = encodedLength(
  LINK_BYTES + CLICK_BYTES + ACCOUNT_BYTES + AFFILIATE_BYTES + SIGNATURE_BYTES,
)

const BODY_PATTERN = new RegExp(`^[\\w-]{${BODY_LENGTH}}$`)
const LINK_ID_PATTERN = new RegExp(`^[\\w-]{${LINK_END}}$`)

/** Returns whether a text has the form of a link id. */
export const isLinkId = (text: string) => LINK_ID_PATTERN.test(text)

/** The link that a visitor followed, with its account and the affiliate that it pays. */
export interface LinkOrigin {
  link_id: string
  account: string
  affiliate_id: string
}

/** The content of a verified code. Account and affiliate are tags; see `accountTag`. */
export interface TrackingCode {
  link_id: string
  click_id: string
  account: string
  affiliate: string
}

/** Returns a new link id: 48 random bits. */
export const newLinkId = (): string =>
  base64url.encode(crypto.getRandomValues(new Uint8Array(LINK_BYTES)))

/** Returns a new click id; it begins with `now` (milliseconds), so ids sort by time. */
export function newClickId(now: number): string {
  const bytes = crypto.getRandomValues(new Uint8Array(CLICK_BYTES))
  let time = Math.max(0, now - CLICK_EPOCH)
  for (let i = TIME_BYTES - 1; i >= 0; i--, time = Math.floor(time / 256)) bytes[i] = time % 256
  return base64url.encode(bytes)
}

/** Returns the time of the click, in milliseconds, of a code that was verified before; null if it is no code. */
export function clickTime(code: string): number | null {
  const body = code.slice(PREFIX.length)
  if (!code.startsWith(PREFIX) || !BODY_PATTERN.test(body)) return null
  const bytes = base64url.decode(body.slice(LINK_END, CLICK_END))
  return CLICK_EPOCH + bytes.subarray(0, TIME_BYTES).reduce((time, byte) => time * 256 + byte, 0)
}

/** Returns the code that a landing page receives for one click, signed with the first key. */
export async function encodeTrackingCode(
  keys: string,
  { link_id, account, affiliate_id }: LinkOrigin,
  click_id: string,
): Promise<string> {
  const [key] = await importKeys(keys)
  const payload = Uint8Array.of(
    ...base64url.decode(link_id + click_id),
    ...(await tagBytes(account, ACCOUNT_BYTES)),
    ...(await tagBytes(affiliate_id, AFFILIATE_BYTES)),
  )
  return PREFIX + base64url.encode(Uint8Array.of(...payload, ...(await sign(key, payload))))
}

/** Returns the content of a code, or null unless one of the keys has signed it. */
export async function decodeTrackingCode(keys: string, text: string): Promise<TrackingCode | null> {
  const body = text.slice(PREFIX.length)
  if (!text.startsWith(PREFIX) || !BODY_PATTERN.test(body)) return null
  const bytes = base64url.decode(body)
  const payload = bytes.subarray(0, -SIGNATURE_BYTES)
  const signature = bytes.subarray(-SIGNATURE_BYTES)
  for (const key of await importKeys(keys)) {
    // Constant time: the duration must not tell a forger how many bytes of a guess are right.
    if (!crypto.subtle.timingSafeEqual(await sign(key, payload), signature)) continue
    const tags = payload.subarray(LINK_BYTES + CLICK_BYTES)
    return {
      link_id: body.slice(0, LINK_END),
      click_id: body.slice(LINK_END, CLICK_END),
      account: base64url.encode(tags.subarray(0, ACCOUNT_BYTES)),
      affiliate: base64url.encode(tags.subarray(ACCOUNT_BYTES)),
    }
  }
  return null
}

/** Returns the tag of an account in a code. */
export const accountTag = async (account: string) =>
  base64url.encode(await tagBytes(account, ACCOUNT_BYTES))

/** Returns the tag of an affiliate in a code. */
export const affiliateTag = async (affiliate: string) =>
  base64url.encode(await tagBytes(affiliate, AFFILIATE_BYTES))

async function sign(key: HmacKey, payload: Uint8Array): Promise<Uint8Array> {
  const message = Uint8Array.of(...encoder.encode(PREFIX), ...payload)
  return new Uint8Array(await crypto.subtle.sign(HMAC, key, message), 0, SIGNATURE_BYTES)
}

async function tagBytes(name: string, length: number): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', encoder.encode(name)), 0, length)
}

const encoder = new TextEncoder()
