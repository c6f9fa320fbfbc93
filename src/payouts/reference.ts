import { digest } from '../platform/auth/secret.ts'

// References of transfers and batches: ten letters and digits, which every bank carries. The first says what it is, the
// last is a check character.

/** The alphabet of Crockford's base 32, without letters that look like digits. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

const LENGTH = 10

/** What a text has beside the letters of the alphabet: signs do not count, other letters end a reference. */
const SIGN = 32
const OTHER = 33

/** What each character of ASCII is: its place in the alphabet, `SIGN` or `OTHER`. */
const PLACES = Uint8Array.from({ length: 128 }, (_, code) => {
  const letter = String.fromCharCode(code).toUpperCase()
  const place = ALPHABET.indexOf(letter)
  return place >= 0 ? place : /[A-Z]/.test(letter) ? OTHER : SIGN
})

/** Returns the place of the check character of the nine before it, by the algorithm of Luhn modulo 32. */
function checkOf(placeAt: (n: number) => number): number {
  let sum = 0
  for (let n = 0; n < LENGTH - 1; n++) {
    const doubled = placeAt(n) * (n % 2 === 0 ? 2 : 1)
    sum += (doubled >> 5) + (doubled & 31)
  }
  return (32 - (sum % 32)) % 32
}

/** Returns the reference of a transfer or a batch that follows from a text, which must be unique in its account. */
export async function referenceOf(kind: 'T' | 'B', text: string): Promise<string> {
  const bytes = Uint8Array.fromHex(await digest(text)).subarray(0, LENGTH - 2)
  const places = [ALPHABET.indexOf(kind), ...Array.from(bytes, (byte) => byte % ALPHABET.length)]
  return [...places, checkOf((n) => places[n] ?? 0)].map((place) => ALPHABET[place]).join('')
}

/** The references of a text that are looked up: those of a file fit into one parameter of a statement. */
const MAX_REFERENCES = 12

const KINDS: readonly number[] = [...'TB'].map((kind) => ALPHABET.indexOf(kind))

/**
 * Returns the references that may stand in a text, of transfers and batches. Letter case, spaces and signs do not count.
 * Each character is read once, whatever the text.
 */
export function referencesIn(text: string): string[] {
  // As numbers, whose comparison takes no memory.
  const found: number[] = []
  // The last sixteen letters.
  const ring = new Uint8Array(16)
  let length = 0
  for (let i = 0; i < text.length && found.length < MAX_REFERENCES; i++) {
    const place = PLACES[text.charCodeAt(i)] ?? SIGN
    if (place === SIGN) continue
    if (place === OTHER) {
      length = 0
      continue
    }
    ring[length & 15] = place
    length += 1
    const first = length - LENGTH
    const placeAt = (n: number) => ring[(first + n) & 15] ?? 0
    if (first < 0 || !KINDS.includes(placeAt(0)) || checkOf(placeAt) !== place) continue
    let number = 0
    for (let n = 0; n < LENGTH; n++) number = number * ALPHABET.length + placeAt(n)
    if (!found.includes(number)) found.push(number)
  }
  return found.map((number) =>
    Array.from({ length: LENGTH }, (_, n) => {
      const place = Math.floor(number / ALPHABET.length ** (LENGTH - 1 - n)) % ALPHABET.length
      return ALPHABET[place]
    }).join(''),
  )
}

/** Returns whether a reference is that of a transfer, and not that of a batch. */
export const isOfTransfer = (reference: string): boolean => reference.startsWith('T')
