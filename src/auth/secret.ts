/** The SHA-256 of a secret in hex, and all we store of it: a long random one needs no slower digest. */
export async function digest(secret: string): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(secret))
  return Array.from(new Uint8Array(bytes), (b) => b.toString(16).padStart(2, '0')).join('')
}

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const SECRET_FORMAT = /^([a-z]+_(?:live|test)_[0-9A-Za-z]{43})([0-9A-Za-z]{6})$/

/** What a secret is for; the prefix lets scanners of leaked secrets know it. */
export type Prefix = 'tcs' | 'tbt'

/** A new secret of 256 random bits: `{prefix}_{mode}_{43 base62}{6 base62 of its CRC32}`. */
export function newSecret(prefix: Prefix, mode: 'live' | 'test'): string {
  let body = ''
  while (body.length < 43) {
    // 248 is the largest multiple of 62 in a byte: what is above would favour the first letters.
    for (const byte of crypto.getRandomValues(new Uint8Array(64))) {
      if (byte < 248 && body.length < 43) body += BASE62[byte % 62]
    }
  }
  const said = `${prefix}_${mode}_${body}`
  return said + checksum(said)
}

/** Whether a secret can be one of ours; a typing error is refused without any lookup. */
export function isWellFormed(secret: string, prefix: Prefix): boolean {
  const [, said = '', sum] = SECRET_FORMAT.exec(secret) ?? []
  return said.startsWith(`${prefix}_`) && checksum(said) === sum
}

/** CRC-32 as in zlib, in base62. Not a defence: it tells a typing error from a guess. */
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
