import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isTooLarge } from '../../src/brand/extras.ts'
import { jsonTextBytes, utf8Bytes } from '../../src/brand/json-bytes.ts'
import { MAX_EXTRAS_BYTES, MAX_EXTRAS_NUMBER } from '../../src/db/records/extras-limits.ts'
import { ANY_CHARACTER } from '../platform/any-character.ts'

const bytesOf = (text: string) => new TextEncoder().encode(text).length

const texts = fc.oneof(
  fc.string(),
  fc.string({ unit: ANY_CHARACTER }),
  fc.string({ unit: 'grapheme' }),
)

test('the bytes of a text are those of its encoding', () => {
  fc.assert(
    fc.property(texts, (text) => {
      expect([utf8Bytes(text), jsonTextBytes(text)]).toEqual([
        bytesOf(text),
        bytesOf(JSON.stringify(text)),
      ])
    }),
  )
})

test('a record is too large if the stored fields and its own exceed a limit together', () => {
  const size = fc.constantFrom(1, 20_000, 40_000)
  const fields = fc
    .dictionary(fc.oneof(fc.constantFrom('a', 'b"\\', '€'), texts), size, { maxKeys: 3 })
    .map((sizes) => Object.entries(sizes).map(([name, n]) => [name, 'ü"'.repeat(n / 4)] as const))
  const sizesOf = (entries: readonly (readonly [string, string])[]) =>
    new Map(entries.map(([name, text]) => [name, bytesOf(JSON.stringify({ [name]: text })) - 1]))
  fc.assert(
    fc.property(fc.boolean(), fields, fields, (isFull, old, sent) => {
      const many = isFull ? Array.from({ length: 254 }, (_, i) => [`n${i}`, '1'] as const) : []
      const stored = Object.fromEntries([...many, ...old])
      const next = { ...stored, ...Object.fromEntries(sent) }
      const isOver =
        bytesOf(JSON.stringify(next)) > MAX_EXTRAS_BYTES ||
        Object.keys(next).length > MAX_EXTRAS_NUMBER
      const found = isTooLarge(sizesOf(sent), JSON.stringify(stored))
      expect(found).toBe(isOver && sent.length > 0)
    }),
  )
})
