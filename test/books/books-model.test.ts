import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { memoize } from '../../src/platform/memoize.ts'
import {
  addUp,
  bookOnce,
  compareWithFresh,
  keepBooks as keepBooksFor,
  restoreDropped,
} from './keep-books.ts'

// The laws of books that keep-books.ts closes. `npm run worlds` tries more worlds.

const WORLDS = env.MODEL_RUNS || 3
/** With the usual seed the worlds from here on are short and have many statements. */
const FIRST = env.SEED * 2_000_000 + 4
const seeds = Array.from({ length: WORLDS }, (_, index) => FIRST + index)

/** Keeps the books of 25 weeks, or of 24 months. */
const keepBooks = memoize((seed: number) => keepBooksFor(seed, seed % 3 === 0 ? 700 : 170))

/** Checks a law for the books of all seeds. Returns how often they met what it is about. */
function check(law: typeof addUp): number {
  return seeds.reduce((sum, seed) => {
    const { comparisons, met } = law(keepBooks(seed))
    for (const { label, actual, expected } of comparisons) expect(actual, label).toEqual(expected)
    return sum + met
  }, 0)
}

test('approved amounts and adjustments sum to a fresh computation of all periods', () => {
  expect(check(compareWithFresh)).toBeGreaterThan(WORLDS)
})

test('each statement adds up, and opens with the closing of the previous one', () => {
  expect(check(addUp)).toBeGreaterThan(0)
})

test('transfers between plans and manual entries are booked once', () => {
  check(bookOnce)
})

test('corrections restore at most the dropped amounts, those of their own period first', () => {
  const restored = check(restoreDropped)
  if (WORLDS >= 50) expect(restored).toBeGreaterThan(0)
})
