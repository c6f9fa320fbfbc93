import { expect, test } from 'vitest'
import { readPrefer } from '../../src/platform/http/prefer.ts'
import { ada, partner } from '../partner.ts'

// RFC 7240 §2: a list of tokens, each with an optional value and parameters.

test.each([
  ['', {}, ''],
  ['return=minimal', { minimal: true }, 'return=minimal'],
  ['handling=lenient', { lenient: true }, 'handling=lenient'],
  [
    'Return=Minimal , HANDLING="lenient"',
    { minimal: true, lenient: true },
    'return=minimal, handling=lenient',
  ],
  [
    'return=minimal; foo=bar, handling=lenient',
    { minimal: true, lenient: true },
    'return=minimal, handling=lenient',
  ],
  ['handling=strict, handling=lenient', {}, 'handling=strict'],
  ['return=representation', {}, 'return=representation'],
  ['respond-async, wait=10', {}, ''],
  ['handling=loose', {}, ''],
  ['return="minimal"', { minimal: true }, 'return=minimal'],
  [',,handling=lenient,', { lenient: true }, 'handling=lenient'],
  ['minimal', {}, ''],
])('the header %j is parsed by RFC 7240', (header, expected, applied) => {
  expect(readPrefer(header)).toEqual({ lenient: false, minimal: false, ...expected, applied })
})

test('Preference-Applied omits preferences that were not applied', async () => {
  const acme = await partner()
  const response = await acme.post('customers', ada, { Prefer: 'respond-async' })

  expect(response.headers.has('Preference-Applied')).toBe(false)
})
