import { digest } from '../platform/auth/secret.ts'

// References of transfers and batches: ten letters and digits, which every bank carries. The first says what it is, the
// last is a check character.

/** The alphabet of Crockford's base 32, without letters that look like digits. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

const LENGTH = 10

/** The place of each character of ASCII in the alphabet; 255: it has none. */
const PLACES = Uint8Array.from({ length: 128 }, (_, code) =>
  ALPHABET.indexOf(String.fromCharCode(code)),
)

/** Returns the check character of the nine at a position of a text, by the algorithm of Luhn modulo 32. */
function checkOf(text: string, at = 0): string {
  let sum = 0
  for (let n = 0; n < LENGTH - 1; n++) {
    const place = PLACES[text.charCodeAt(at + n)] ?? 255
    if (place === 255) return ''
    const doubled = place * (n % 2 === 0 ? 2 : 1)
    sum += (doubled >> 5) + (doubled & 31)
  }
  return ALPHABET[(32 - (sum % 32)) % 32] ?? ''
}

/** Returns the reference of a transfer or a batch that follows from a text, which must be unique in its account. */
export async function referenceOf(kind: 'T' | 'B', text: string): Promise<string> {
  const bytes = Uint8Array.fromHex(await digest(text)).subarray(0, LENGTH - 2)
  const letters = Array.from(bytes, (byte) => ALPHABET[byte % ALPHABET.length])
  const body = kind + letters.join('')
  return body + checkOf(body)
}

/** How often a text may name something: the references of a file fit into one parameter of a statement. */
const MAX_NAMED = 50

/**
 * Returns the references that may stand in a text, of transfers and batches. Letter case, spaces and signs do not count.
 */
export function referencesIn(text: string): string[] {
  const plain = text.toUpperCase().replaceAll(/[^\dA-Z]+/g, '')
  const found: string[] = []
  for (let at = 0; at <= plain.length - LENGTH && found.length < MAX_NAMED; at++) {
    if (plain[at] !== 'T' && plain[at] !== 'B') continue
    if (checkOf(plain, at) === plain[at + LENGTH - 1]) found.push(plain.slice(at, at + LENGTH))
  }
  return [...new Set(found)]
}

/** Returns whether a reference is that of a transfer, and not that of a batch. */
export const isOfTransfer = (reference: string): boolean => reference.startsWith('T')
