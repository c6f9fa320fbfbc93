import { expect, test } from 'vitest'
import { suggest } from '../src/validation/suggest.ts'

test('the closest name is suggested, whatever the order of the names', () => {
  expect(suggest('amuont', ['account', 'amount'])).toBe('amount')
  expect(suggest('currencie', ['currencies_', 'currency', 'currencies'])).toBe('currencies')
})

test('a name is suggested if at most two letters and less than half of it differ', () => {
  expect(suggest('curency', ['currency'])).toBe('currency')
  expect(suggest('crency', ['currency'])).toBe('currency')
  expect(suggest('crecy', ['currency'])).toBeNull()
  expect(suggest('ab', ['abcd'])).toBeNull()
  expect(suggest('AMOUNT', ['amount'])).toBe('amount')
})

test('a name of more than 40 characters suggests nothing', () => {
  expect(suggest('x'.repeat(40), ['x'.repeat(40)])).toBe('x'.repeat(40))
  expect(suggest('x'.repeat(41), ['x'.repeat(41)])).toBeNull()
})
