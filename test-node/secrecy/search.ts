// Finds secrets and names in a text, whether they stand there plain, percent-encoded, escaped, in hex,
// in base64, or in one of these inside another. Texts are compared as bytes, one per character, and in
// small letters, so that a name is found in any case.

/** Returns the bytes of a text, one per character. */
export const bytesOf = (text: string) => Buffer.from(text).toString('latin1')

const small = (text: string) => text.toLowerCase()
const fromHex = (hex: string) => String.fromCharCode(Number.parseInt(hex, 16))
const fromUnit = (hex: string) => bytesOf(String.fromCharCode(Number.parseInt(hex, 16)))

/** The longest run that is remembered, and the number of runs. */
const MOST_REMEMBERED = 40
const MOST_RUNS = 50_000

/** Returns a decoder of every match, which starts at each of its first `places` characters. */
function runs(run: RegExp, places: number, coding: BufferEncoding) {
  // Most runs are words that occur in each text, such as the names of members.
  const known = new Map<string, string>()
  const decoded = (found: string) =>
    Array.from({ length: places }, (_, i) =>
      Buffer.from(found.slice(i), coding).toString('latin1'),
    ).join('\n')
  const remembered = (found: string) => {
    const read = known.get(found) ?? decoded(found)
    if (known.size < MOST_RUNS) known.set(found, read)
    return read
  }
  return (text: string) =>
    (text.match(run) ?? [])
      .map((found) => (found.length > MOST_REMEMBERED ? decoded(found) : remembered(found)))
      .join('\n')
}

/**
 * Decoders of a text that is, or contains, encoded text. A run may begin with characters that are not
 * part of it, so hex is read from both places of a pair, and base64 from all four of a group.
 */
const CODINGS: [name: string, read: (text: string) => string][] = [
  ['hex', runs(/[\da-f]{10,}/gi, 2, 'hex')],
  ['base64', runs(/[\w+/-]{7,}/g, 4, 'base64')],
  ['percent', (text) => text.replaceAll(/%([\da-f]{2})/gi, (_, hex) => fromHex(hex))],
  [
    'escaped',
    (text) =>
      text.replaceAll(/\\(?:u([\da-f]{4})|(.))/gi, (_, unit, sign) =>
        unit ? fromUnit(unit) : sign,
      ),
  ],
]

/** Yields a text, what is encoded in it, and what is encoded in that, each with its encoding. */
export function* readings(text: string, depth = 2, form = 'plain'): Generator<[string, string]> {
  yield [form, text]
  if (depth === 0) return
  for (const [name, read] of CODINGS) {
    const decoded = read(text)
    if (decoded && decoded !== text)
      yield* readings(decoded, depth - 1, form === 'plain' ? name : `${name} in ${form}`)
  }
}

/** The length of the parts by which a secret is found: any 15 characters of it contain one. */
const PART = 8

/** Values to search for: secrets by their parts, others as a whole, each with its description. */
export interface Sought {
  parts: Map<string, string>
  /** The secrets that these parts are of, with their kinds. */
  secrets: Set<string>
  /** Whether a part begins with two bytes, by their number: few texts do, which saves a search. */
  beginnings: Uint8Array | null
  values: Map<string, string>
}

/** Returns an empty set of values. */
export const nothing = (): Sought => ({
  parts: new Map(),
  secrets: new Set(),
  beginnings: null,
  values: new Map(),
})

/** Returns the number of the two bytes at a place. */
const pairAt = (text: string, i: number) => text.charCodeAt(i) * 256 + text.charCodeAt(i + 1)

/** Describes a value without printing it: its kind and its first characters. */
const named = (kind: string, value: string) => `${kind} ${JSON.stringify(value.slice(0, 4))}…`

/** Adds a secret, given as its bytes. Placeholders, which have few different characters, are left out. */
export function seekSecret(sought: Sought, kind: string, secret: string): void {
  const bytes = small(secret)
  if (bytes.length < 2 * PART || new Set(bytes).size < PART) return
  const what = named(kind, secret)
  sought.beginnings ??= new Uint8Array(65_536)
  for (let i = 0; i + PART <= bytes.length; i++) {
    sought.parts.set(bytes.slice(i, i + PART), what)
    sought.beginnings[pairAt(bytes, i)] = 1
  }
}

/** The shortest value that is searched for: shorter ones occur in other words. */
const SHORTEST = 5
/** The number of characters by which a long value is found. */
const BEGINNING = 24

/** Adds a value that is searched for as a whole, or by its beginning if it is long. */
export function seekValue({ values }: Sought, kind: string, value: string): void {
  const beginning = [...value].slice(0, BEGINNING)
  // Numbers and times occur everywhere, and values with few different characters are placeholders.
  if (beginning.length < SHORTEST || new Set(beginning).size < 3 || /^[\d.:TZ-]*$/.test(value))
    return
  values.set(small(bytesOf(beginning.join(''))), named(kind, value))
}

/** Returns which value a text contains, given as bytes, and in which encoding, or null. */
export const found = (text: string, sought: readonly Sought[]) => foundIn(readings(text), sought)

/** Returns the same for a text that is decoded already. */
export function foundIn(
  all: Iterable<[form: string, read: string]>,
  sought: readonly Sought[],
): string | null {
  for (const [form, read] of all) {
    const text = small(read)
    for (const { parts, beginnings, values } of sought) {
      if (beginnings) {
        for (let i = 0; i + PART <= text.length; i += PART) {
          if (!beginnings[pairAt(text, i)]) continue
          const what = parts.get(text.slice(i, i + PART))
          if (what) return `${what} (${form})`
        }
      }
      for (const [value, what] of values) if (text.includes(value)) return `${what} (${form})`
    }
  }
  return null
}
