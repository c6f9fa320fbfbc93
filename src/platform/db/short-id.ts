// The short form of ids in the database. A record's id is in its table and in an index, and many
// systems send UUIDs: 36 characters for 128 bits. 20 characters in base 85 hold the same bits.
// The characters are in ASCII order, so the short forms sort like the ids, and JSON escapes none of them.

const ALPHABET =
  '!#$%&()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwx'
const BASE = ALPHABET.length
const CODES = Uint8Array.from(ALPHABET, (character) => character.charCodeAt(0))
/** The value of each character code; -1 if the character is not a digit of this base. */
const valuesOf = (characters: string) =>
  Int8Array.from({ length: 128 }, (_, code) => characters.indexOf(String.fromCharCode(code)))
const SHORT_VALUES = valuesOf(ALPHABET)
const HEX_VALUES = valuesOf('0123456789abcdef')

/** Marks the short form of a UUID. Ids that begin with it are stored with another one before it. */
const MARK = '~'

const UUID_LENGTH = 36
const SHORT_LENGTH = 21
const HYPHEN = 45
const isHyphen = (text: string, i: number) => text.charCodeAt(i) === HYPHEN
/** The positions of the 32 hexadecimal digits. */
const DIGITS = Uint8Array.from(
  Array.from({ length: UUID_LENGTH }, (_, i) => i).filter((i) => ![8, 13, 18, 23].includes(i)),
)

/** A buffer for the character codes of a short form. It is reused, because allocation takes longer. */
const shortCodes = new Array<number>(SHORT_LENGTH).fill(MARK.charCodeAt(0))

/** Returns the short form of a UUID in lower case; null if the text, of 36 characters, is not one. */
function shortUuid(text: string): string | null {
  if (!isHyphen(text, 8) || !isHyphen(text, 13) || !isHyphen(text, 18) || !isHyphen(text, 23)) {
    return null
  }
  for (let word = 0; word < 4; word++) {
    let bits = 0
    for (let i = word * 8; i < word * 8 + 8; i++) {
      const code = text.charCodeAt(DIGITS[i]!)
      const digit = code < 128 ? HEX_VALUES[code]! : -1
      if (digit < 0) return null
      bits = ((bits << 4) | digit) >>> 0
    }
    // Eight hexadecimal digits are five characters; the first character of all is the mark.
    for (let end = word * 5 + 5; end > word * 5; end--) {
      shortCodes[end] = CODES[bits % BASE]!
      bits = Math.floor(bits / BASE)
    }
  }
  return String.fromCharCode(...shortCodes)
}

/** Returns the short form of an id: of a UUID in lower case; any other id is its own short form. */
export function shortId(id: string): string {
  const uuid = id.length === UUID_LENGTH ? shortUuid(id) : null
  return uuid ?? (id.startsWith(MARK) ? MARK + id : id)
}

/** The two hexadecimal digits of each byte. */
const HEX_BYTES = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
const hexOf16Bits = (bits: number) => `${HEX_BYTES[bits >>> 8]}${HEX_BYTES[bits & 255]}`

/** Returns the id of a short form. */
export function fullId(stored: string): string {
  if (!stored.startsWith(MARK)) return stored
  if (stored.startsWith(MARK, 1)) return stored.slice(1)
  const wordAt = (start: number) => {
    let word = 0
    for (let i = start; i < start + 5; i++) word = word * BASE + SHORT_VALUES[stored.charCodeAt(i)]!
    return word
  }
  const high = (word: number) => hexOf16Bits(word >>> 16)
  const low = (word: number) => hexOf16Bits(word & 0xffff)
  const [a, b, c, d] = [wordAt(1), wordAt(6), wordAt(11), wordAt(16)]
  return `${high(a)}${low(a)}-${high(b)}-${low(b)}-${high(c)}-${low(c)}${high(d)}${low(d)}`
}
