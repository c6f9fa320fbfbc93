import { expect, test } from 'vitest'
import { CASES } from './cases/all.ts'

// Examples of the engine by file, which random worlds meet seldom or never.

test.each(CASES)('$name', ({ actual, expected }) => {
  expect(actual()).toEqual(expected)
})

test('the names of the examples differ', () => {
  expect(new Set(CASES.map(({ name }) => name)).size).toBe(CASES.length)
})
