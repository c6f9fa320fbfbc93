import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { fromFact, plainText } from '../../src/platform/money/decimal.ts'
import {
  deleteObjects,
  digestOf,
  getObject,
  putObject,
  resolveBucket,
} from '../../src/platform/parquet/bucket.ts'
import {
  decimalUnits,
  openParquet,
  type ParquetColumn,
  type ParquetRow,
  ROWS_PER_GROUP,
} from '../../src/platform/parquet/file.ts'
import { readParquet } from '../exports/read-parquet.ts'
import { overriding } from '../overriding.ts'

const COLUMNS: ParquetColumn[] = [
  { name: 'text', type: 'text' },
  { name: 'integer', type: 'integer' },
  { name: 'decimal', type: 'decimal' },
  { name: 'date', type: 'date' },
  { name: 'instant', type: 'instant' },
]

const ROWS: ParquetRow[] = [
  ['', 0, '0', 0, 0],
  ["O'Neil \u0000 😀 \u{10ffff}", 9007199254740993n, '0.1', 20_000, 1_790_000_000_123],
  ['é', -9223372036854775808n, '-99999999999999999999999999.999999999999', -1, -1],
  [null, null, null, null, null],
  ['z', 9223372036854775807n, '123456789012345', 1, 1],
  ['z', 3, '-0.000000000001', 1, 1],
  ['z', -3, '1.5', 1, 1],
]

/** Returns a Parquet file of these rows, in as few row groups as there may be. */
function writeParquet(
  columns: readonly ParquetColumn[],
  rows: readonly ParquetRow[],
  notes: Record<string, string> = {},
) {
  const file = openParquet(columns, notes)
  for (let i = 0; i < rows.length; i += ROWS_PER_GROUP) {
    file.writeGroup(rows.slice(i, i + ROWS_PER_GROUP))
  }
  return file.finish()
}

/** Returns rows of all types, of which many are equal. */
const manyRows = (count: number): ParquetRow[] =>
  Array.from({ length: count }, (_, i) => {
    const [text = '', , decimal = '0'] = ROWS[i % ROWS.length] ?? []
    return [`${text}${i % 300}`, i, decimal, i % 31, i * 1000]
  })

describe('a Parquet file', () => {
  test('gives back the rows that were written, to the bit', async () => {
    const bytes = writeParquet(COLUMNS, ROWS)
    expect(await readParquet(bytes, COLUMNS)).toEqual(ROWS)
  })

  test('without rows, and of several row groups, is read', async () => {
    expect(await readParquet(writeParquet(COLUMNS, []), COLUMNS)).toEqual([])
    const rows = manyRows(2 * ROWS_PER_GROUP + 5)
    expect(await readParquet(writeParquet(COLUMNS, rows), COLUMNS)).toEqual(rows)
  })

  test('of equal rows has equal bytes, of other rows other bytes', async () => {
    const digest = (rows: ParquetRow[]) => digestOf(writeParquet(COLUMNS, rows))
    const rows = manyRows(1000)
    expect(await digest(manyRows(1000))).toBe(await digest(rows))
    for (const i of COLUMNS.keys()) {
      const changed = rows.map((row, n) => (n === 500 ? row.with(i, null) : row))
      const isNull = rows[500]?.[i] === null
      expect((await digest(changed)) === (await digest(rows)), COLUMNS[i]?.name).toBe(isNull)
    }
  })

  test('refuses a row group of more than 10,000 rows', () => {
    const file = openParquet(COLUMNS)
    expect(() => file.writeGroup(manyRows(ROWS_PER_GROUP + 1))).toThrow(RangeError)
  })

  test('that is cut off or foreign is refused', async () => {
    const bytes = writeParquet(COLUMNS, manyRows(10))
    for (const damaged of [bytes.slice(0, -1), bytes.slice(0, 3), new Uint8Array(0)]) {
      await expect(readParquet(damaged, COLUMNS)).rejects.toThrow()
    }
    await expect(readParquet(new Uint8Array(100), COLUMNS)).rejects.toThrow()
  })
})

describe('a decimal', () => {
  test.each([
    [0, '0'],
    [-0, '0'],
    [0.1, '0.1'],
    [1e-12, '0.000000000001'],
    [1.5e-7, '0.00000015'],
    [-1e15, '-1000000000000000'],
    [123456789012345, '123456789012345'],
    ['0.10', '0.1'],
    ['-12.345678901234', '-12.345678901234'],
  ])('%s is kept exactly', (value, text) => {
    expect(plainText(fromFact(decimalUnits(value)))).toBe(text)
  })

  test.each([
    1e-13,
    '1e26',
    '',
    'NaN',
    '1,5',
    Number.POSITIVE_INFINITY,
    '100000000000000000000000000',
  ])('%s is refused', (value) => {
    expect(() => decimalUnits(value)).toThrow(RangeError)
  })
})

describe('an object', () => {
  const bucket = () => resolveBucket(env, null)

  async function store() {
    const bytes = writeParquet(COLUMNS, manyRows(20))
    const sha256 = await digestOf(bytes)
    const known = { key: `test/${sha256}.parquet`, sha256 }
    await putObject(bucket(), known, bytes)
    return { bytes, known }
  }

  const read = async (key: string, from = bucket()) =>
    new Uint8Array((await (await getObject(from, key))?.arrayBuffer()) ?? [])

  test('is read as it was written, until it is deleted', async () => {
    const { known, bytes } = await store()
    expect(await read(known.key)).toEqual(bytes)
    await deleteObjects(bucket(), [known.key])
    expect(await getObject(bucket(), known.key)).toBeNull()
  })

  test('whose bytes lack the digest is not stored', async () => {
    const { known, bytes } = await store()
    const wrong = { ...known, key: 'test/wrong', sha256: '0'.repeat(64) }
    await expect(putObject(bucket(), wrong, bytes)).rejects.toMatchObject({ code: 'unavailable' })
    expect(await bucket().head('test/wrong')).toBeNull()
  })

  test('is read in spite of a lost response; R2 that fails is a 503', async () => {
    const { known, bytes } = await store()
    let failures = 2
    const failing = overriding(bucket(), {
      get: (key: string) => {
        if (failures-- > 0) return Promise.reject(new Error('get: Internal error (10001)'))
        return bucket().get(key)
      },
    })
    expect(await read(known.key, failing)).toEqual(bytes)
    failures = 3
    await expect(read(known.key, failing)).rejects.toMatchObject({ code: 'unavailable' })
  })

  test('never leaves its jurisdiction', () => {
    expect(() => resolveBucket(env, 'eu')).toThrow('unavailable')
    const EXPORTS_EU = env.EXPORTS
    expect(resolveBucket({ ...env, EXPORTS_EU } as Env, 'eu')).toBe(EXPORTS_EU)
  })
})
