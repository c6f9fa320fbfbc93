import fc from 'fast-check'

const SURROGATES = { first: 0xd800, count: 0x800 }
const ALL = 0x110000 - SURROGATES.count

/**
 * Any character of Unicode but a surrogate, as a unit of `fc.string`. It generates what fast-check's unit
 * `binary` does, which first builds a map of all million characters: most of a second, and 100 MB.
 */
export const ANY_CHARACTER: fc.Arbitrary<string> = fc.integer({ min: 0, max: ALL - 1 }).map(
  (index) => String.fromCodePoint(index < SURROGATES.first ? index : index + SURROGATES.count),
  (character) => {
    const [one, ...others] = typeof character === 'string' ? character : []
    const point = one?.codePointAt(0)
    if (point === undefined || others.length > 0) throw new Error('not a character')
    if (point < SURROGATES.first) return point
    if (point < SURROGATES.first + SURROGATES.count) throw new Error('a surrogate')
    return point - SURROGATES.count
  },
)
