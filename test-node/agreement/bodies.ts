import fc from 'fast-check'
import type { SchemaValidator } from './schemas.ts'

/** Whether a body is a bulk; otherwise it is one record. For brands `data` is an ordinary member. */
export const isBulk = (body: unknown, vertical: string) =>
  typeof body !== 'object' ||
  body === null ||
  Array.isArray(body) ||
  (vertical !== 'igaming' && Object.hasOwn(body, 'data'))

/** Whether a body matches the schema of bulks, and each record that of its entity. */
export function matchesSchemas(
  body: unknown,
  vertical: string,
  bulk: SchemaValidator,
  entity: SchemaValidator,
): boolean {
  if (!isBulk(body, vertical)) return entity.validate(body)
  if (!bulk.validate(body)) return false
  const records = Array.isArray(body) ? body : (body as { data: unknown[] }).data
  return records.every((record) => entity.validate(record))
}

/** Returns records that differ in the member `key`. */
const many = (example: object, key: string, count: number) =>
  Array.from({ length: count }, (_, i) => ({ ...example, [key]: `b-${i}` }))

const NOT_RECORDS = [null, true, 0, 7, '', 'x', [], [{}], [[]]]

/** Generates bodies in every accepted form, and in others. */
export function bodies(example: object, key: string): fc.Arbitrary<unknown> {
  const anything = fc.constantFrom<unknown>(...NOT_RECORDS, {}, example)
  const array = fc.oneof(
    fc.integer({ min: 0, max: 5 }).map((count) => many(example, key, count)),
    fc
      .tuple(fc.integer({ min: 0, max: 3 }), anything, fc.nat(3))
      .map(([count, other, at]) => many(example, key, count).toSpliced(at, 0, other as never)),
  )
  return fc.oneof(
    array,
    anything,
    array.map((data) => ({ data })),
    fc.tuple(array, anything).map(([data, meta]) => ({ data, meta })),
    fc.tuple(array, fc.constantFrom('Data', 'x', key)).map(([data, name]) => ({ data, [name]: 1 })),
    anything.map((data) => ({ data })),
    fc.tuple(array, fc.constantFrom('Data', 'records')).map(([data, name]) => ({ [name]: data })),
    fc.constantFrom('data', 'meta').map((name) => ({ ...example, [name]: 'x' })),
    array.map((data) => ({ ...example, data })),
  )
}

/** Returns the largest bulk and one with one record more, in each form. */
export const largest = (example: object, key: string): unknown[] =>
  [1000, 1001].flatMap((count) => [
    many(example, key, count),
    { data: many(example, key, count), meta: { total: count } },
  ])

/** Bodies that are not JSON, or nested too deep. */
export const MALFORMED = [
  '',
  ' ',
  'x',
  '{',
  '[{}',
  '{"a":1,}',
  "{'a':1}",
  'NaN',
  '[01]',
  '["\t"]',
  '[1] [2]',
  '[[[[[[[[[]]]]]]]]]',
  `[${'{"a":'.repeat(8)}1${'}'.repeat(8)}]`,
]
