import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Exchange, secrecy, type TestOutput } from './secrecy.ts'

// Tests the watch over secrets and personal data: it must notice every kind of leak.

const SECRET = 'tcs_test_q8ZfX0vN3kLr7Tn2Wc5Yb9Hd1Ej4Gm6Ps0Qu8Rx3Va5Kz2'
const EMAIL = 'augusta@person.example'
const KEY = Buffer.from('a key that is kept, of thirty-two bytes').toString('base64url')
const SIGNATURE = Buffer.from(Array.from({ length: 64 }, (_, i) => (i * 37) % 251))
const TOKEN = `eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.${SIGNATURE.toString('base64url')}`
const ADMIN = 'N7hQ2xVb9LmR4tKc8WzYp3Dg6FsJ1EaU'

const exchange: Exchange = {
  world: 'one',
  path: '/api/v1/forex/customers',
  request: {
    headers: { authorization: `Bearer ${TOKEN}` },
    body: JSON.stringify([{ customer_id: 'c-1', email: EMAIL, first_name: 'Ünal' }]),
  },
  status: 200,
  headers: {},
  body: JSON.stringify({ client_secret: SECRET }),
}

/** Returns a watch that has observed one exchange. */
function watching(changes: Partial<Exchange> = {}) {
  const watch = secrecy({ SIGNING_KEYS: JSON.stringify({ keys: [{ kid: 'a', d: KEY }] }) }, ADMIN)
  watch.learnExchange({ ...exchange, ...changes })
  return watch
}

const empty: TestOutput = { world: 'one', printed: [], databases: [], objects: [] }
const leak = (left: Partial<TestOutput>, changes: Partial<Exchange> = {}) =>
  watching(changes).leak({ ...empty, ...left })
const stored = (table: string, row: object) => ({ databases: [{ [table]: [{ ...row }] }] })

const base64 = (text: string) => Buffer.from(text).toString('base64')
const hex = (text: string) => Buffer.from(text).toString('hex')
const percent = (text: string) => hex(text).replace(/../g, '%$&')
const escaped = (text: string) => [...text].map((c) => `\\u00${hex(c)}`).join('')

describe('a leaked secret', () => {
  const ways: [string, string][] = [
    ['as plain text', SECRET],
    ['in part', `… ${SECRET.slice(11, 27)} …`],
    ['in hex', hex(SECRET)],
    ['in uppercase hex, after one digit', `0${hex(SECRET).toUpperCase()}`],
    ['percent-encoded', percent(SECRET)],
    ['with JSON escapes', escaped(SECRET)],
    ['in base64 of hex', base64(hex(SECRET))],
    ['in base64 of base64', base64(`:${base64(SECRET)}`)],
    ['in percent-encoded base64', percent(base64(SECRET))],
    ...[0, 1, 2].map((i): [string, string] => [
      `in base64, after ${i} other bytes`,
      base64('a'.repeat(i) + SECRET),
    ]),
    ...[1, 2, 3].map((i): [string, string] => [
      `in base64, after ${i} unrelated letters`,
      'x'.repeat(i) + base64(SECRET),
    ]),
  ]
  for (const [way, text] of ways) {
    test(`a secret is found ${way}`, () => {
      assert.match(leak({ printed: [text] }) ?? '', /^the log has the client_secret "tcs_"…/)
    })
  }

  test('a secret is found in a refusal that repeats it', () => {
    const refused = { ...exchange, status: 422, body: JSON.stringify({ detail: SECRET }) }
    const watch = watching()
    assert.ok(watch.learnExchange(refused))
    assert.equal(watch.learnExchange({ ...refused, body: '{}' }), null)
    assert.ok(
      watch.learnExchange({ ...refused, body: '{}', headers: { location: percent(SECRET) } }),
    )
  })
})

describe('personal data', () => {
  test('personal data may be in its columns and nowhere else', () => {
    assert.equal(leak(stored('customers', { email: EMAIL, first_name: 'Ünal' })), null)
    for (const [table, row] of [
      ['deliveries', { errors: `[{"message":"${EMAIL}"}]` }],
      ['customers', { customer_id: EMAIL.toUpperCase() }],
      ['transactions', { note: EMAIL }],
      ['idempotency_keys', { key: base64(EMAIL) }],
      ['audit_log', { actor: EMAIL }],
    ] as const) {
      assert.match(leak(stored(table, row)) ?? '', / has the email "augu"…/)
    }
    assert.match(leak({ printed: [`{"at":"${EMAIL}"}`] }) ?? '', /^the log/)
  })

  test('no personal data of an erased customer remains', () => {
    const customers = [
      { account: 'a', customer_id: 'c-1', email: null, extras: null },
      { account: 'b', customer_id: 'c-1', email: 'x@y.example', extras: null },
    ]
    const erasures = [{ account: 'a', customer_id: 'c-1' }]
    assert.equal(leak({ databases: [{ customers, erasures }] }), null)
    const restored = [{ ...customers[0]!, extras: '{}' }]
    assert.match(
      leak({ databases: [{ customers: restored, erasures }] }) ?? '',
      /^customers\.extras/,
    )
  })
})
