import assert from 'node:assert/strict'
import { test } from 'node:test'
import { conformance, type Exchange } from './conformance.ts'

// Tests the check that compares every response of the test suite with openapi.json.

const headers = {
  'content-type': 'application/json',
  'x-request-id': 'e0f1a5a2-7b0c-4b1e-9d55-2f6c1f0f8a11',
}
const valid: Exchange = {
  method: 'GET',
  path: '/api/v1/forex/totals',
  status: 200,
  headers: { ...headers, ratelimit: '"token";r=999;t=60' },
  body: JSON.stringify({
    data: [{ day: '2026-10-02', resource: 'customers', count: 1, sums: {} }],
  }),
}
const problem = {
  type: 'https://api.example/problems/rate_limited',
  title: 'Too many requests',
  status: 429,
  code: 'rate_limited',
  detail: 'Wait.',
  request_id: headers['x-request-id'],
}
const limited: Exchange = {
  ...valid,
  status: 429,
  headers: { ...headers, 'content-type': 'application/problem+json', 'retry-after': '7' },
  body: JSON.stringify(problem),
}

const { flaw, missing } = conformance('openapi.json')

test('a documented response passes and counts as covered', () => {
  const before = missing().length
  assert.equal(flaw(valid), null)
  assert.equal(flaw(limited), null)
  assert.equal(flaw({ ...valid, method: 'HEAD', body: '' }), null)
  assert.equal(missing().length, before - 2)
  assert.ok(!missing().includes('GET /api/v1/forex/totals 200'))
})

const totalWith = (members: object) => ({
  ...valid,
  body: JSON.stringify({
    data: [{ day: '2026-10-02', resource: 'customers', count: 1, sums: {}, ...members }],
  }),
})

const INVALID: [flaw: string, response: Exchange, message: RegExp][] = [
  ['an undocumented member', totalWith({ secret: 1 }), /additional properties/],
  [
    'an undocumented member beside the list',
    { ...valid, body: '{"data":[],"more":1}' },
    /additional properties/,
  ],
  ['a missing member', { ...valid, body: '{}' }, /required property 'data'/],
  ['a value of another type', totalWith({ count: '1' }), /count must be integer/],
  [
    'a sum that is not a decimal string',
    totalWith({ sums: { amount_currency: 1.5 } }),
    /must be string/,
  ],
  ['an undocumented status', { ...valid, status: 418 }, /is not described/],
  [
    'another media type',
    { ...valid, headers: { ...headers, 'content-type': 'text/html' } },
    /of type/,
  ],
  [
    'a missing request id',
    { ...valid, headers: { 'content-type': 'application/json' } },
    /no X-Request-Id/,
  ],
  ['a malformed header', { ...valid, headers: { ...valid.headers, ratelimit: '9' } }, /RateLimit/],
  [
    'a 429 without Retry-After',
    { ...limited, headers: { ...limited.headers, 'retry-after': '' } },
    /Retry-After/,
  ],
  [
    'a code of another status',
    { ...limited, body: JSON.stringify({ ...problem, code: 'not_found' }) },
    /allowed values/,
  ],
  [
    'an undocumented member of a problem',
    { ...limited, body: JSON.stringify({ ...problem, stack: '' }) },
    /properties/,
  ],
  [
    'an undocumented header',
    { ...valid, headers: { ...valid.headers, 'x-powered-by': 'us' } },
    /x-powered-by/,
  ],
  ['an unknown operation', { ...valid, path: '/api/v1/forex/nothing' }, /is not an operation/],
]
for (const [label, response, message] of INVALID) {
  test(`${label} is reported`, () => assert.match(String(flaw(response)), message))
}
