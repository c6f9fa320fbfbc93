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

/** Returns a new ULID of a time in whole milliseconds. */
export function ulid(time: number): string {
  // 256 is a multiple of 32, so the remainders of random bytes are evenly distributed.
  const random = crypto.getRandomValues(new Uint8Array(RANDOM_LENGTH))
  return ulidPrefix(time) + Array.from(random, (byte) => DIGITS[byte % BASE]).join('')
}

/** Returns the time of a ULID in milliseconds. */
export const ulidTime = (id: string): number =>
  Array.from(id.slice(0, TIME_LENGTH)).reduce(
    (time, digit) => time * BASE + DIGITS.indexOf(digit),
    0,
  )
