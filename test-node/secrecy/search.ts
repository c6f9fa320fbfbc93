// Finds what is sought in a text, however it is written there: plain, percent-coded, escaped, in hex
// or in base64, or one of them in another. Texts are compared as bytes, one a character, and all in
// small letters, so that a name is found whatever its case.

/** The bytes of a text, one a character. */
export const bytesOf = (text: string) => Buffer.from(text).toString('latin1')

const small = (text: string) => text.toLowerCase()
const fromHex = (hex: string) => String.fromCharCode(Number.parseInt(hex, 16))
const fromUnit = (hex: string) => bytesOf(String.fromCharCode(Number.parseInt(hex, 16)))

/** All that is matched, read from so many places. */
const runs = (text: string, run: RegExp, places: number, coding: BufferEncoding) =>
  (text.match(run) ?? [])
    .flatMap((found) =>
      Array.from({ length: places }, (_, i) =>
        Buffer.from(found.slice(i), coding).toString('latin1'),
      ),
    )
    .join('\n')

/**
 * Codings, and what a text says if it is, or has in it, what is written in one. A run may begin with
 * what is not part of it, so hex is read from both places of a pair, and base64 from all four of a group.
 */
const CODINGS: [name: string, read: (text: string) => string][] = [
  ['hex', (text) => runs(text, /[\da-f]{10,}/gi, 2, 'hex')],
  ['base64', (text) => runs(text, /[\w+/-]{7,}/g, 4, 'base64')],
  ['percent', (text) => text.replaceAll(/%([\da-f]{2})/gi, (_, hex) => fromHex(hex))],
  [
    'escaped',
    (text) =>
      text.replaceAll(/\\(?:u([\da-f]{4})|(.))/gi, (_, unit, sign) =>
        unit ? fromUnit(unit) : sign,
      ),
  ],
]

/** All that a text may be read as, and how: it, what is coded in it, and what is coded in that. */
export function* readings(text: string, depth = 2, form = 'plain'): Generator<[string, string]> {
  yield [form, text]
  if (depth === 0) return
  for (const [name, read] of CODINGS) {
    const said = read(text)
    if (said && said !== text)
      yield* readings(said, depth - 1, form === 'plain' ? name : `${name} in ${form}`)
  }
}

/** So long is the part by which a secret is found; of any 15 characters of it, one part is found. */
const PART = 8

/** What is sought: secrets by their parts, other values as a whole; each with what it is. */
export interface Sought {
  parts: Map<string, string>
  values: Map<string, string>
}

/** Nothing yet. */
export const nothing = (): Sought => ({ parts: new Map(), values: new Map() })

/** A value that says what it is without being told: its first characters. */
const named = (kind: string, value: string) => `${kind} ${JSON.stringify(value.slice(0, 4))}…`

/** A secret, given as its bytes. What has few different characters fills a place, and is none. */
export function seekSecret({ parts }: Sought, kind: string, secret: string): void {
  const bytes = small(secret)
  if (bytes.length < 2 * PART || new Set(bytes).size < PART) return
  const what = named(kind, secret)
  for (let i = 0; i + PART <= bytes.length; i++) parts.set(bytes.slice(i, i + PART), what)
}

/** The least that is sought: what is shorter stands in other words. */
const SHORTEST = 5
/** By so much of its beginning a long value is known. */
const BEGINNING = 24

/** Another value, of which all is sought, or the beginning where it is long. */
export function seekValue({ values }: Sought, kind: string, value: string): void {
  const beginning = [...value].slice(0, BEGINNING)
  // Figures and times stand everywhere, and what has few different characters fills a place.
  if (beginning.length < SHORTEST || new Set(beginning).size < 3 || /^[\d.:TZ-]*$/.test(value))
    return
  values.set(small(bytesOf(beginning.join(''))), named(kind, value))
}

/** What of all that is sought stands in a text, given as bytes, and how; null: nothing. */
export const found = (text: string, sought: readonly Sought[]) => foundIn(readings(text), sought)

/** The same of what a text may be read as. */
export function foundIn(
  all: Iterable<[form: string, read: string]>,
  sought: readonly Sought[],
): string | null {
  for (const [form, read] of all) {
    const said = small(read)
    for (const { parts, values } of sought) {
      if (parts.size > 0) {
        for (let i = 0; i + PART <= said.length; i += PART) {
          const what = parts.get(said.slice(i, i + PART))
          if (what) return `${what} (${form})`
        }
      }
      for (const [value, what] of values) if (said.includes(value)) return `${what} (${form})`
    }
  }
  return null
}
