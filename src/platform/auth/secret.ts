/**
 * Returns the SHA-256 of a secret in hex, the only form in which secrets are stored. A fast digest is
 * safe because every secret has 256 random bits.
 */
export async function digest(secret: string): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(secret))
  return new Uint8Array(bytes).toHex()
}

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const SECRET_FORMAT = /^([a-z]+_(?:live|test)_[0-9A-Za-z]{43})([0-9A-Za-z]{6})$/

/**
 * The prefix of a client secret (`tcs`), Brand Token (`tbt`), key of an affiliate (`taf`) or of a member of the team
 * (`tmk`). Scanners for leaked secrets use it.
 */
export type Prefix = 'tcs' | 'tbt' | 'taf' | 'tmk'

/** Returns a new secret of 256 random bits: `{prefix}_{mode}_{43 base62}{6 base62 of its CRC32}`. */
export function newSecret(prefix: Prefix, mode: 'live' | 'test'): string {
  const body = `${prefix}_${mode}_${randomText(SECRET_LENGTH)}`
  return body + checksum(body)
}

/** The number of characters between the prefix and the checksum. */
export const SECRET_LENGTH = 43

/** Returns random characters of base62. */
export function randomText(length: number): string {
  let random = ''
  while (random.length < length) {
    // 248 is the largest multiple of 62 in a byte: higher bytes would favour the first digits.
    for (const byte of crypto.getRandomValues(new Uint8Array(64))) {
      if (byte < 248 && random.length < length) random += BASE62[byte % 62]
    }
  }
  return random
}

/** Returns whether a text has this prefix, the format of a secret, and the correct checksum. */
export function isWellFormed(secret: string, prefix: Prefix): boolean {
  const [, body = '', sum] = SECRET_FORMAT.exec(secret) ?? []
  return body.startsWith(`${prefix}_`) && checksum(body) === sum
}

/** Returns the CRC-32 (as in zlib) in base62. It detects typing errors; it does not protect the secret. */
function checksum(text: string): string {
  let crc = ~0
  for (const byte of new TextEncoder().encode(text)) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  let rest = ~crc >>> 0
  let digits = ''
  for (let i = 0; i < 6; i++, rest = Math.floor(rest / 62)) digits = BASE62[rest % 62] + digits
  return digits
}
