// ULIDs: 10 characters of time in milliseconds and 16 random ones, in Crockford's Base32. They sort by
// their time. See https://github.com/ulid/spec.

const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const BASE = DIGITS.length
const TIME_LENGTH = 10
const RANDOM_LENGTH = 16

/** Returns the first 10 characters of all ULIDs of a time in whole milliseconds, which is not negative. */
export function ulidPrefix(time: number): string {
  let prefix = ''
  for (let rest = time; prefix.length < TIME_LENGTH; rest = Math.floor(rest / BASE)) {
    prefix = DIGITS[rest % BASE] + prefix
  }
  return prefix
}

/** Returns a ULID of a time with these bytes. 256 is a multiple of 32, so remainders are evenly distributed. */
const withBytes = (time: number, bytes: Uint8Array): string =>
  ulidPrefix(time) + Array.from(bytes, (byte) => DIGITS[byte % BASE]).join('')

/** Returns a new ULID of a time in whole milliseconds. */
export const ulid = (time: number): string =>
  withBytes(time, crypto.getRandomValues(new Uint8Array(RANDOM_LENGTH)))

/** Returns the ULID of a time in whole milliseconds that is always the same for a text. */
export async function ulidOf(time: number, text: string): Promise<string> {
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return withBytes(time, new Uint8Array(hash, 0, RANDOM_LENGTH))
}

/** Returns the time of a ULID in milliseconds. */
export const ulidTime = (id: string): number =>
  Array.from(id.slice(0, TIME_LENGTH)).reduce(
    (time, digit) => time * BASE + DIGITS.indexOf(digit),
    0,
  )
