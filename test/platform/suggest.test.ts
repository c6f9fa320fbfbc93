import { expect, test } from 'vitest'
import { currencyHint } from '../../src/platform/validation/fields.ts'
import { CURRENCIES } from '../../src/platform/validation/iso-4217.ts'
import { suggest } from '../../src/platform/validation/suggest.ts'

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

test('two swapped letters are one edit', () => {
  expect(suggest('form', ['affiliate_id', 'from'])).toBe('from')
  expect(suggest('frmm', ['from'])).toBe('from')
  expect(suggest('ot', ['to'])).toBeNull()
})

test('a name of more than 40 characters suggests nothing', () => {
  expect(suggest('x'.repeat(40), ['x'.repeat(40)])).toBe('x'.repeat(40))
  expect(suggest('x'.repeat(41), ['x'.repeat(41)])).toBeNull()
})

test.each([
  ['usd', 'USD'],
  [' EUR\n', 'EUR'],
  ['UDS', 'USD'],
  ['JYP', 'JPY'],
  ['EUX', 'EUR'],
  ['EURO', 'EUR'],
  ['US', 'USD'],
])('the hint for the currency %j names %s', (sent, code) => {
  expect(currencyHint(sent)).toBe(`Did you mean \`${code}\`?`)
})

test.each(['BTC', 'btc ', 'ETH', 'USDT', 'USDC', 'XRP', 'LTC'])(
  'the hint for the crypto code %j is to convert the amount',
  (sent) => {
    expect(currencyHint(sent)).toBe('Convert the amount to an ISO 4217 currency.')
  },
)

test.each(['', 'EXAMPLE', 'Q', 'XXS', 'dollars', 'U'.repeat(41)])(
  'no currency is suggested for %j',
  (sent) => {
    expect(currencyHint(sent)).toBeNull()
  },
)

test('a currency is never answered as a crypto code', () => {
  for (const code of CURRENCIES) expect(currencyHint(code) ?? '').not.toMatch(/Convert/)
})
