import { digest } from '../platform/auth/secret.ts'

// References of transfers and batches: ten letters and digits, which every bank carries. The first says what it is, the
// last is a check character.

/** The alphabet of Crockford's base 32, without letters that look like digits. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

const LENGTH = 10

/** Returns the check character of a text, by the algorithm of Luhn modulo 32. */
function checkOf(text: string): string {
  const sum = [...text].reverse().reduce((total, letter, i) => {
    const doubled = ALPHABET.indexOf(letter) * (i % 2 === 0 ? 2 : 1)
    return total + Math.floor(doubled / 32) + (doubled % 32)
  }, 0)
  return ALPHABET[(32 - (sum % 32)) % 32] ?? ''
}

/** Returns the reference of a transfer or a batch that follows from a text, which must be unique in its account. */
export async function referenceOf(kind: 'T' | 'B', text: string): Promise<string> {
  const bytes = Uint8Array.fromHex(await digest(text)).subarray(0, LENGTH - 2)
  const letters = Array.from(bytes, (byte) => ALPHABET[byte % ALPHABET.length])
  const body = kind + letters.join('')
  return body + checkOf(body)
}

/** The references of a text that are looked up: those of a file fit into one parameter of a statement. */
const MAX_REFERENCES = 12

/**
 * Returns the references that may stand in a text, of transfers and batches. Letter case, spaces and signs do not count.
 */
export function referencesIn(text: string): string[] {
  const plain = text.toUpperCase().replaceAll(/[^\dA-Z]/g, '')
  const found = new Set<string>()
  for (const [, one = ''] of plain.matchAll(/(?=([TB][\dA-HJKMNP-TV-Z]{9}))/g)) {
    if (checkOf(one.slice(0, -1)) === one.at(-1)) found.add(one)
    if (found.size === MAX_REFERENCES) break
  }
  return [...found]
}

/** Returns whether a reference is that of a transfer, and not that of a batch. */
export const isOfTransfer = (reference: string): boolean => reference.startsWith('T')
