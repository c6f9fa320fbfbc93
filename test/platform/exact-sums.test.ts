import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { MAX_SUMMED, sumSql, unitsOf } from '../../src/platform/db/exact-sums.ts'
import { randomSource } from '../commission/worlds.ts'

/** Returns the sums that SQLite computes of lists of values. */
async function sumsOf(lists: readonly (readonly (number | null)[])[]): Promise<(string | null)[]> {
  const statement = `select (select ${sumSql('value')} from json_each(list.value)) as sum from json_each(?) as list`
  const { results } = await env.DB.prepare(statement)
    .bind(JSON.stringify(lists))
    .all<{ sum: string }>()
  return results.map(({ sum }) => sum)
}

const sumOf = async (values: readonly (number | null)[]) => (await sumsOf([values]))[0]!

/** A decimal of so many digits, the last of them after the point: the number, and its units of 10^-12. */
function decimalOf(digits: bigint, places: number): readonly [number, bigint] {
  const text = String(digits < 0n ? -digits : digits).padStart(places + 1, '0')
  const at = text.length - places
  const number = Number(`${digits < 0n ? '-' : ''}${text.slice(0, at)}.${text.slice(at) || '0'}`)
  return [number, digits * 10n ** BigInt(12 - places)]
}

test('a sum equals that of BigInt at every magnitude and sign', async () => {
  const from = randomSource(env.SEED)
  const decimals = Array.from({ length: 15 }, (_, i) => i + 1).flatMap((length) =>
    Array.from({ length: 9 }, (_, places) => places).flatMap((places) =>
      [1n, -1n].flatMap((sign) => [
        decimalOf(sign * (10n ** BigInt(length) - 1n), places),
        decimalOf(sign * 10n ** BigInt(length - 1), places),
        decimalOf(sign * BigInt(Math.floor(from.below(2 ** 31) * 10 ** (length - 9.4))), places),
      ]),
    ),
  )
  const sums = await sumsOf(decimals.map(([number]) => [number]))
  for (const [i, [number, units]] of decimals.entries())
    expect(unitsOf(sums[i]!), `${number}`).toBe(units)
  const all = decimals.reduce((sum, [, units]) => sum + units, 0n)
  expect(unitsOf(await sumOf(decimals.map(([number]) => number)))).toBe(all)
  expect(unitsOf(await sumOf([10 ** 15, null, -0.00000001]))).toBe(10n ** 27n - 10n ** 4n)
})

test('a sum of no value is null', async () => {
  expect(await sumOf([null])).toBeNull()
  expect(await sumOf([])).toBeNull()
})

test.each([1e15, -1e15, 9999.99999999, 9_999_999.99999999, 99999999.9999999, 999999999999999])(
  'neither limb of %d leaves 64 bits, as often as one statement may sum it',
  async (value) => {
    const limbs = String(await sumOf([value])).split(' ')
    for (const limb of limbs) {
      expect(BigInt(limb.replace('-', '')) * BigInt(MAX_SUMMED)).toBeLessThan(2n ** 63n)
    }
  },
)
