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

test('what is as it is described passes, and is known to have been heard', () => {
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
  ['a member that nobody described', total({ secret: 1 }), /additional properties/],
  ['one beside the list', { ...good, body: '{"data":[],"more":1}' }, /additional properties/],
  ['a member that is missing', { ...good, body: '{}' }, /required property 'data'/],
  ['a value of another type', total({ count: '1' }), /count must be integer/],
  ['a sum that is no decimal', total({ sums: { amount_currency: 1.5 } }), /must be string/],
  ['a status that is not described', { ...good, status: 418 }, /is not described/],
  [
    'another media type',
    { ...good, headers: { ...headers, 'content-type': 'text/html' } },
    /of type/,
  ],
  [
    'no request id',
    { ...good, headers: { 'content-type': 'application/json' } },
    /no X-Request-Id/,
  ],
  [
    'a header of another form',
    { ...good, headers: { ...good.headers, ratelimit: '9' } },
    /RateLimit/,
  ],
  [
    'a 429 that does not say when',
    { ...limited, headers: { ...limited.headers, 'retry-after': '' } },
    /Retry-After/,
  ],
  [
    'a code that is of another status',
    { ...limited, body: JSON.stringify({ ...problem, code: 'not_found' }) },
    /allowed values/,
  ],
  [
    'a problem with more in it',
    { ...limited, body: JSON.stringify({ ...problem, stack: '' }) },
    /properties/,
  ],
  [
    'a header that nobody described',
    { ...good, headers: { ...good.headers, 'x-powered-by': 'us' } },
    /x-powered-by/,
  ],
  [
    'an operation that there is not',
    { ...good, path: '/api/v1/forex/nothing' },
    /is not an operation/,
  ],
]
for (const [what, heard, says] of WRONG) {
  test(`${what} is seen`, () => assert.match(String(flaw(heard)), says))
}
