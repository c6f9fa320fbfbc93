import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { bytesOf, found, nothing, seekSecret } from './secrecy/search.ts'
import { type Exchange, type Exchanges, secrecy, type TestOutput } from './secrecy.ts'

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

/** Returns one of many requests with one token, and what was logged during it. */
const many = (changes: object = {}): Exchanges => ({
  world: 'one',
  exchanges: [{ ...exchange, printed: [], isNaming: false, ...changes }],
})

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

  const places: [string, Partial<TestOutput>, RegExp][] = [
    ['a column', stored('clients', { secret_digest: SECRET }), /^clients\.secret_digest has/],
    ['a JSON column', stored('audit_log', { details: `{"a":"${SECRET}"}` }), /^audit_log\.details/],
    ['a column of personal data', stored('customers', { extras: SECRET }), /^customers\.extras/],
    ["an object's storage", { objects: [{ stored: [['a', { b: SECRET }]] }] }, /^an object's stor/],
    ["an object's name", { objects: [{ name: SECRET, stored: [] }] }, /^an object's storage/],
  ]
  for (const [place, left, message] of places) {
    test(`a secret is found in ${place}`, () => assert.match(leak(left) ?? '', message))
  }

  test('every kind of secret is found', () => {
    const basic = { authorization: `Basic ${base64(`a:${SECRET}`)}` }
    const secrets: [string, Exchange['request']['headers'], string][] = [
      [KEY, {}, 'SIGNING_KEYS a d'],
      [ADMIN, {}, 'ADMIN_KEY'],
      [TOKEN, { authorization: `Bearer ${TOKEN}` }, 'bearer token'],
      [TOKEN.split('.')[2]!, { authorization: `Bearer ${TOKEN}` }, 'bearer token'],
      [SIGNATURE.toString('hex'), { 'cf-access-jwt-assertion': TOKEN }, 'Access token'],
      [SECRET, { 'x-api-key': SECRET }, 'api key'],
      [SECRET, basic, 'password'],
      [SECRET, { cookie: `a=${SECRET}` }, 'cookie'],
    ]
    for (const [secret, headers, kind] of secrets) {
      const message = leak({ printed: [secret] }, { request: { headers, body: '' }, body: '' })
      assert.ok(message?.includes(kind), `${kind}: ${message}`)
    }
    const form = { headers: {}, body: new URLSearchParams({ client_secret: SECRET }).toString() }
    assert.ok(leak({ printed: [SECRET] }, { path: '/oauth/token', request: form, body: '' }))
  })

  test('a secret of an earlier test is found in the same world only', () => {
    const watch = watching()
    assert.equal(watch.leak(empty), null)
    assert.ok(watch.leak({ ...empty, printed: [SECRET] }))
    assert.equal(watch.leak({ ...empty, world: 'two', printed: [SECRET] }), null)
    assert.match(watch.printed(SECRET) ?? '', /^client_secret/)
  })

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

  test('unknown members of a brand customer count as personal data', () => {
    const body = JSON.stringify({
      data: [{ customerId: 'player-1', crm: { tags: ['whale-999'] } }],
    })
    const exchange = { path: '/tracking/events/customers', request: { headers: {}, body } }
    assert.ok(leak({ printed: ['whale-999'] }, exchange))
    assert.equal(leak({ printed: ['player-1'] }, exchange), null)
  })

  test('personal data is found in a request that is not valid JSON', () => {
    const request = { headers: {}, body: `[{"email":"${EMAIL}"},` }
    assert.ok(leak({ printed: [EMAIL] }, { request }))
  })

  test('the note of a transaction is personal data with a column of its own', () => {
    const body = JSON.stringify({ note: 'paid by her aunt' })
    const exchange = { path: '/api/v1/forex/transactions', request: { headers: {}, body } }
    assert.equal(leak(stored('transactions', { note: 'paid by her aunt' }), exchange), null)
    assert.ok(leak(stored('customers', { extras: 'paid by her aunt' }), exchange))
  })

  test('the email address of a team member may be in the columns of actors only', () => {
    const claims = Buffer.from(JSON.stringify({ email: EMAIL })).toString('base64url')
    const headers = {
      'cf-access-jwt-assertion': `e30.${claims}.${SIGNATURE.toString('base64url')}`,
    }
    const exchange = { path: '/admin/v1/accounts', request: { headers, body: '' } }
    assert.equal(leak(stored('audit_log', { actor: EMAIL }), exchange), null)
    assert.ok(leak(stored('audit_log', { details: EMAIL }), exchange))
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

test('digests, ids and repeated characters are not leaks', () => {
  assert.equal(leak({ printed: ['a'.repeat(64), `dlv_${'0'.repeat(26)}`, 'augusta'] }), null)
  const secrets = nothing()
  seekSecret(secrets, 'password', 'x'.repeat(700))
  assert.equal(found(bytesOf('x'.repeat(700)), [secrets]), null)
})

test('short texts, numbers and fillers are not searched for as personal data', () => {
  for (const note of ['Eve', '2026-10-01T08:00:00Z', '100.25', '😀'.repeat(500)]) {
    const request = { headers: {}, body: JSON.stringify({ note }) }
    const message = leak(
      { printed: [note] },
      { path: '/api/v1/forex/transactions', request, body: '' },
    )
    assert.equal(message, null)
  }
})

test('long texts are searched in linear time', () => {
  const long = `${'a%'.repeat(200_000)}${'\\'.repeat(200_000)}`
  assert.equal(leak({ printed: [long] }), null)
})

describe('the watch over many requests', () => {
  const refusedWith = (changes: object) =>
    secrecy({}, ADMIN).learnMany(many({ status: 401, body: '', ...changes }))

  test('the log repeats nothing from a request, accepted or refused', () => {
    for (const secret of [TOKEN, EMAIL, ADMIN, hex(EMAIL), base64(TOKEN)]) {
      const printed = [`{"request_id":"9d2f","fault":"${secret}"}`]
      assert.notEqual(refusedWith({ printed }), null, secret)
    }
    assert.equal(refusedWith({ printed: ['{"account":"acme","status":401}'] }), null)
  })

  test('a refusal repeats no token but may repeat a name', () => {
    assert.notEqual(refusedWith({ body: TOKEN }), null)
    assert.equal(refusedWith({ body: EMAIL }), null)
  })

  test('a secret of an accepted request is neither logged later nor stored', () => {
    const watch = secrecy({}, ADMIN)
    assert.equal(watch.learnMany(many()), null)
    const later = { request: { headers: {}, body: '' }, body: '', printed: [TOKEN] }
    assert.notEqual(watch.learnMany(many(later)), null)
    assert.notEqual(watch.leak({ ...empty, ...stored('links', { name: SECRET }) }), null)
    assert.equal(watch.leak({ ...empty, ...stored('links', { name: EMAIL }) }), null)
  })

  test('a person that a test names is in no table but their own', () => {
    const watch = secrecy({}, ADMIN)
    watch.learnMany(many({ isNaming: true }))
    assert.equal(watch.leak({ ...empty, ...stored('customers', { email: EMAIL }) }), null)
    watch.learnMany(many({ isNaming: true }))
    assert.notEqual(watch.leak({ ...empty, ...stored('links', { name: EMAIL }) }), null)
  })

  test('a token part that decodes to text is not a signature', () => {
    const claims = base64('{"client_id":"client-of-acme-forex","sub":"someone"}').replace('=', '')
    const headers = { authorization: `Bearer ${SIGNATURE.toString('base64url')}.e30.${claims}` }
    const printed = ['{"account":"acme-forex"}']
    assert.equal(refusedWith({ request: { headers, body: '' }, printed }), null)
  })
})
