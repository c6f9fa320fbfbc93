import fc from 'fast-check'

// Texts that are almost valid.

/** The characters of base64url: an edit among them leaves a token well-formed. */
export const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** Other characters that may stand in a header. */
const OTHERS = [' ', '.', '=', '+', '/', '%', '"', ',', ';', '~', '\t']

/** At one place in so many all characters are tried, at the others a few. */
const ROTATION = 32

/**
 * Yields some edits of a text by one character: replaced, removed, doubled, and one inserted. At the end
 * of a part it tries the whole alphabet, because the last character of base64url has unused bits. At both
 * ends of the text it inserts characters that are not of base64url.
 */
export function* singleEdits(text: string): Generator<string> {
  const edited = (at: number, part: string, length = 1) =>
    text.slice(0, at) + part + text.slice(at + length)
  for (let at = 0; at < text.length; at++) {
    const current = text[at]!
    const endsPart = at + 1 === text.length || text[at + 1] === '.'
    const few = [7, 20, 41].map((step) => BASE64URL[(BASE64URL.indexOf(current) + step + 64) % 64]!)
    const other = current.toLowerCase() === current ? current.toUpperCase() : current.toLowerCase()
    const all = endsPart || at % ROTATION === 0
    for (const char of all ? [...BASE64URL, ...OTHERS] : [...few, other]) {
      if (char !== current) yield edited(at, char)
    }
    yield edited(at, '')
    yield edited(at, current + current)
    yield edited(at, BASE64URL[(at * 7) % 64]! + current)
  }
  for (const char of [...BASE64URL, ...OTHERS]) yield text + char
  // Spaces before a credential do not change it.
  for (const char of OTHERS) if (char.trim()) yield char + text
}

/** Yields every edit by one character: replaced, removed, inserted. */
export function* everyEdit(text: string): Generator<string> {
  for (let at = 0; at <= text.length; at++) {
    const [head, tail] = [text.slice(0, at), text.slice(at + 1)]
    for (const char of [...BASE64URL, ...OTHERS]) {
      if (at < text.length && char !== text[at]) yield head + char + tail
      yield head + char + text.slice(at)
    }
    if (at < text.length) yield head + tail
  }
}

/** Generates a text that is cut, doubled, reversed, or has something inserted. */
export const mangled = (text: string): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.nat(text.length),
      fc.nat(text.length),
      fc.oneof(fc.string({ maxLength: 8 }), fc.constantFrom(...OTHERS, '\0', '=', '==', '..')),
      fc.constantFrom('put', 'cut', 'keep', 'case', 'swap', 'turn', 'repeat'),
    )
    .map(([first, second, piece, how]) => {
      const [from, to] = [Math.min(first, second), Math.max(first, second)]
      const [head, middle, tail] = [text.slice(0, from), text.slice(from, to), text.slice(to)]
      if (how === 'put') return head + piece + middle + tail
      if (how === 'cut') return head + tail
      if (how === 'keep') return middle
      if (how === 'case') return head + middle.toUpperCase() + tail
      if (how === 'swap') return tail + middle + head
      if (how === 'turn') return head + [...middle].reverse().join('') + tail
      return head + middle + middle + tail
    })

/** Whether a text can be the value of a header: workerd prints a warning if it is not ASCII. */
export const isSendable = (value: string) => /^[\t\x20-\x7e]*$/.test(value)
