import assert from 'node:assert/strict'
import { test } from 'node:test'
import { conformance, type Heard } from './conformance.ts'

// The judge of the suite's answers, judged: each way in which an answer may be wrong is seen.

const headers = {
  'content-type': 'application/json',
  'x-request-id': 'e0f1a5a2-7b0c-4b1e-9d55-2f6c1f0f8a11',
}
const good: Heard = {
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
const limited: Heard = {
  ...good,
  status: 429,
  headers: { ...headers, 'content-type': 'application/problem+json', 'retry-after': '7' },
  body: JSON.stringify(problem),
}

const { flaw, unheard } = conformance('openapi.json')

test('a documented response passes and counts as covered', () => {
  const before = unheard().length
  assert.equal(flaw(good), null)
  assert.equal(flaw(limited), null)
  assert.equal(flaw({ ...good, method: 'HEAD', body: '' }), null)
  assert.equal(unheard().length, before - 2)
  assert.ok(!unheard().includes('GET /api/v1/forex/totals 200'))
})

const total = (more: object) => ({
  ...good,
  body: JSON.stringify({
    data: [{ day: '2026-10-02', resource: 'customers', count: 1, sums: {}, ...more }],
  }),
})

const WRONG: [what: string, heard: Heard, says: RegExp][] = [
  ['an undocumented member', total({ secret: 1 }), /additional properties/],
  [
    'an undocumented member beside the list',
    { ...good, body: '{"data":[],"more":1}' },
    /additional properties/,
  ],
  ['a missing member', { ...good, body: '{}' }, /required property 'data'/],
  ['a value of another type', total({ count: '1' }), /count must be integer/],
  [
    'a sum that is not a decimal string',
    total({ sums: { amount_currency: 1.5 } }),
    /must be string/,
  ],
  ['an undocumented status', { ...good, status: 418 }, /is not described/],
  [
    'another media type',
    { ...good, headers: { ...headers, 'content-type': 'text/html' } },
    /of type/,
  ],
  [
    'a missing request id',
    { ...good, headers: { 'content-type': 'application/json' } },
    /no X-Request-Id/,
  ],
  ['a malformed header', { ...good, headers: { ...good.headers, ratelimit: '9' } }, /RateLimit/],
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
    { ...good, headers: { ...good.headers, 'x-powered-by': 'us' } },
    /x-powered-by/,
  ],
  ['an unknown operation', { ...good, path: '/api/v1/forex/nothing' }, /is not an operation/],
]
for (const [what, heard, says] of WRONG) {
  test(`${what} is seen`, () => assert.match(String(flaw(heard)), says))
}
