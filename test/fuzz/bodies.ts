import fc from 'fast-check'
import { ANY_CHARACTER } from '../platform/any-character.ts'
import { type Slip, slip, spoil } from './bytes.ts'

// Generates bodies that are almost valid: a valid one, edited as JSON and then as bytes.

/** Any JSON. */
export type Json = string | number | boolean | null | Json[] | { [name: string]: Json }

/** Names that break code which trusts its input. */
const DANGEROUS_NAMES = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '',
  'data',
  'meta',
  'a/b~c',
]
const UNUSUAL_TEXTS = [
  '',
  ' ',
  '\0',
  '\ud800',
  '\udc00x',
  '😀'.repeat(26),
  'x'.repeat(501),
  '..',
  '%2F',
]

/** JSON texts that `JSON.stringify` never writes. */
const LITERALS = [
  '1e400',
  '-1e400',
  '1e-400',
  '-0',
  '0.0',
  '1E+2',
  '1e3',
  '19.990000000000000001',
  '01',
  '.5',
  '9007199254740993',
  '0.1e-15',
  '123456789012345678901234567890',
  '1.',
  '+1',
  '0x1',
  'NaN',
  'Infinity',
  'undefined',
  "'x'",
  '"\\ud800"',
  '"\\u0000"',
  '"\\x"',
  '"\\u00e9"',
  '[[[[[[[[[[]]]]]]]]]]',
  '{"a":1,"a":2}',
  '{"__proto__":{"x":1}}',
  '// x',
  'tru',
  '"\n"',
  `"${'x'.repeat(17_000)}"`,
  // A value, and after it a member that is there twice, or that no object has.
  '"c-1","customer_id":"c-2"',
  '"p-1","customerId":"p-2"',
  '1,"__proto__":{"customer_id":"c-1"}',
]

const text = fc.oneof(
  fc.constantFrom(...UNUSUAL_TEXTS, ...DANGEROUS_NAMES),
  fc.string({ unit: ANY_CHARACTER, maxLength: 60 }),
  fc.constantFrom(
    '2026-02-30',
    '2026-10-01T08:30:00Z',
    '2026-10-02 02:30',
    'EUR',
    'eur',
    '1,000.00',
  ),
)

const value: fc.Arbitrary<Json> = fc.oneof(
  text,
  fc.double() as fc.Arbitrary<number>,
  fc.constantFrom<Json>(0, -1, 1e15, 0.001, 1e21, true, false, null, [], {}, [null], [[]], {
    '': {},
  }),
  fc.constantFrom<Json>({ toString: 1 }, { length: 1e9 }, { toJSON: null }, { valueOf: 'x' }),
  fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>,
)

/** One change of a value within a body; `at` chooses which. */
interface Edit {
  at: number
  how: 'append' | 'replace' | 'remove' | 'rename' | 'wrap' | 'array' | 'double' | 'add' | 'literal'
  name: string
  value: Json
  literal: string
  suffix: string
}

const edit: fc.Arbitrary<Edit> = fc.record({
  at: fc.nat(10_000),
  how: fc.constantFrom(
    ...([
      'append',
      'append',
      'replace',
      'replace',
      'remove',
      'rename',
      'wrap',
      'array',
      'double',
      'add',
      'literal',
    ] as const),
  ),
  name: fc.oneof(fc.constantFrom(...DANGEROUS_NAMES), fc.string({ maxLength: 5 })),
  value,
  literal: fc.constantFrom(...LITERALS),
  suffix: fc.constantFrom(...UNUSUAL_TEXTS),
})

/** Returns the places of a JSON value that can be edited: members and elements. */
function places(within: Json, found: [Json, string][] = []): [Json, string][] {
  if (typeof within !== 'object' || within === null) return found
  for (const [name, member] of Object.entries(within)) {
    found.push([within, name])
    places(member, found)
  }
  return found
}

/** Sets a member of any name: an assignment to `__proto__` would not set a member. */
const put = (within: Json, name: string, member: Json) =>
  Object.defineProperty(within, name, entry(member))

/** Returns a placeholder for a text that JSON cannot represent. */
const mark = (literal: string) => `\u0001${LITERALS.indexOf(literal)}\u0001`

function change(root: { body: Json }, { at, how, name, value, literal, suffix }: Edit) {
  const all = places(root as Json)
  const [within, current] = all[at % all.length] as [Record<string, Json>, string]
  const member = within[current]!
  if (how === 'append' && typeof member === 'string') put(within, current, member + suffix)
  else if (how === 'replace' || how === 'append') put(within, current, structuredClone(value))
  else if (how === 'literal') put(within, current, mark(literal))
  else if (how === 'wrap')
    put(within, current, Object.defineProperty({}, name, entry(member)) as Json)
  else if (how === 'array') put(within, current, [member, structuredClone(value)])
  else if (within === (root as object)) return
  else if (how === 'remove')
    Array.isArray(within) ? within.splice(Number(current), 1) : delete within[current]
  else if (how === 'double') {
    if (Array.isArray(within)) within.push(structuredClone(member))
    else put(within, current, Array(2).fill(member))
  } else if (Array.isArray(within)) within.push(structuredClone(value))
  else {
    if (how === 'rename') delete within[current]
    put(within, name, how === 'rename' ? member : structuredClone(value))
  }
}

const entry = (value: Json) => ({ value, enumerable: true, configurable: true, writable: true })

const encoder = new TextEncoder()

function bytesOf(body: Json): Uint8Array {
  const text = JSON.stringify(body) ?? ''
  return encoder.encode(text.replaceAll(/"\\u0001(\d+)\\u0001"/g, (_, i) => LITERALS[Number(i)]!))
}

/** Returns the bytes of a valid body. */
export const encode = (value: Json) => encoder.encode(JSON.stringify(value))

/** The number of bodies that `npm test` sends to each of the eight resources. */
export const EACH = 25

/** Generates edits of these bodies; one in four is edited as bytes, too. */
export const nearly = (valid: readonly Json[]): fc.Arbitrary<Uint8Array> =>
  fc
    .record({
      body: fc.constantFrom(...valid),
      edits: fc.array(edit, { maxLength: 4 }),
      slips: fc.oneof(
        { weight: 3, arbitrary: fc.constant<Slip[]>([]) },
        { weight: 1, arbitrary: fc.array(slip, { minLength: 1, maxLength: 2 }) },
      ),
    })
    .map(({ body, edits, slips }) => {
      const root = { body: structuredClone(body) }
      for (const edit of edits) change(root, edit)
      const bytes = slips.reduce(spoil, bytesOf(root.body))
      // A failure shows it as text.
      return Object.assign(bytes, { [fc.toStringMethod]: () => new TextDecoder().decode(bytes) })
    })

/** Generates a body, and whether it is sent with `handling=lenient`. */
export const delivery = (valid: readonly Json[]) => fc.tuple(nearly(valid), fc.boolean())
