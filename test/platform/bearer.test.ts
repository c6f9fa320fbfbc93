import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { decodeJwt, decodeProtectedHeader, exportJWK, importJWK, SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { issueAccessToken, verifyAccessToken } from '../../src/platform/auth/access-token.ts'
import { decodeBase64url } from '../../src/platform/auth/base64url.ts'
import { fetchWith } from '../checked-fetch.ts'
import { ada, ask, issuedPartner, json, ORIGIN, partner } from '../partner.ts'

const REALM = 'Bearer realm="api"'
const INVALID = `${REALM}, error="invalid_token"`
const list = (Authorization?: string) =>
  ask('/api/v1/forex/customers', { headers: Authorization ? { Authorization } : {} })

test.each(['read', 'read write'])(
  'the tokens that tests open are those that the service issues, for %s',
  async (scope) => {
    const grants = [issuedPartner, partner].map(async (create, i) => {
      const { access_token } = await create('forex', { account: `firm-${i}`, scope })
      const { jti, iat, exp, ...claims } = decodeJwt(access_token)
      const tokenObject = env.TOKEN_GATE.getByName(String(jti))
      const stored = await runInDurableObject(tokenObject, async (_, { storage }) => {
        const { until, ...all } = Object.fromEntries(storage.kv.list<number>())
        return { all, ends: [until === exp! * 1000, until === (await storage.getAlarm())] }
      })
      const text = JSON.stringify({ claims, stored, lifetime: exp! - iat! })
      return JSON.parse(text.replaceAll(`firm-${i}`, 'firm'))
    })
    const [issued, opened] = await Promise.all(grants)
    expect(issued.stored.ends).toEqual([true, true])
    expect(opened).toEqual(issued)
  },
)

describe('RFC 6750 §3: requests without a valid token', () => {
  test.each([
    [undefined, 'missing_credentials', REALM],
    ['Basic YTpi', 'missing_credentials', REALM],
    ['Bearerx.y.z', 'missing_credentials', REALM],
    ['Bearer', 'invalid_token', INVALID],
    ['Bearer ', 'invalid_token', INVALID],
    ['Bearer x.y.z', 'invalid_token', INVALID],
    [`Bearer ${'x'.repeat(100_000)}`, 'invalid_token', INVALID],
    ['Bearer x.y.z, Bearer x.y.z', 'invalid_token', INVALID],
  ])(
    'an invalid Authorization header gets 401 with its challenge: %.30s',
    async (authorization, code, challenge) => {
      const response = await list(authorization)

      expect(response.status).toBe(401)
      expect(response.headers.get('WWW-Authenticate')).toBe(challenge)
      expect(await json(response)).toMatchObject({ code })
    },
  )

  test('a valid token in two Authorization headers is refused', async () => {
    const { access_token } = await partner()
    const headers = new Headers({ Authorization: `Bearer ${access_token}` })
    headers.append('Authorization', `Bearer ${access_token}`)

    expect((await ask('/api/v1/forex/customers', { headers })).status).toBe(401)
    expect((await list(`bearer ${access_token}`)).status).toBe(200)
  })

  test('a token of another vertical gets 403 wrong_vertical', async () => {
    const { access_token } = await partner('prop-trading')
    const response = await list(`Bearer ${access_token}`)

    expect(response.status).toBe(403)
    expect(await json(response)).toMatchObject({
      code: 'wrong_vertical',
      detail:
        'This access token is for the vertical `prop-trading`. The paths of this vertical begin with /api/v1/prop-trading/.',
    })
  })

  test('§3.1 a token without the required scope gets 403 insufficient_scope', async () => {
    const reader = await partner('forex', { scope: 'read' })
    const refused = await reader.post('customers', ada)
    expect(refused.status).toBe(403)
    expect(refused.headers.get('WWW-Authenticate')).toBe(
      `${REALM}, error="insufficient_scope", scope="write"`,
    )
    expect(await json(refused)).toMatchObject({ code: 'insufficient_scope' })
    expect((await json(reader.get('customers'))).data).toEqual([])

    const writer = await partner('forex', { account: 'other', scope: 'write' })
    expect((await writer.post('customers', ada)).status).toBe(201)
    expect((await writer.get('customers')).headers.get('WWW-Authenticate')).toContain(
      'scope="read"',
    )
  })

  test('HEAD requires the same scope as GET', async () => {
    const reader = await partner('forex', { scope: 'read' })
    const writer = await partner('forex', { account: 'other', scope: 'write' })
    const head = ({ access_token }: typeof reader) =>
      ask('/api/v1/forex/customers', {
        method: 'HEAD',
        headers: { Authorization: `Bearer ${access_token}` },
      })

    expect((await head(reader)).status).toBe(200)
    expect((await head(writer)).status).toBe(403)
  })

  test('401, 403 and 429 take precedence over errors in the body', async () => {
    const reader = await partner('forex', { scope: 'read' })
    const prop = await partner('prop-trading', { account: 'prop' })
    const send = (token: string, body: string, type: string) =>
      ask('/api/v1/forex/customers', {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': type },
        body,
      })

    const spent = await partner('forex', { account: 'spent' })
    const { jti } = decodeJwt(spent.access_token)
    const times = Array<number>(1000).fill(Date.now())
    await runInDurableObject(env.TOKEN_GATE.getByName(jti!), (_, { storage }) =>
      storage.kv.put('rate', { times, lease: 0, used: 0 }),
    )

    for (const [body, type] of [
      ['{', 'application/json'],
      ['', 'application/json'],
      ['x', 'text/plain'],
      [' '.repeat(9_000_000), 'application/json'],
      ['[]', 'application/json'],
    ] as const) {
      expect((await send(reader.access_token, body, type)).status).toBe(403)
      expect((await send(prop.access_token, body, type)).status).toBe(403)
      expect((await send('x.y.z', body, type)).status).toBe(401)
      expect((await send(spent.access_token, body, type)).status).toBe(429)
    }
  })
})

const RSA = {
  name: 'RSASSA-PKCS1-v1_5',
  hash: 'SHA-256',
  publicExponent: new Uint8Array([1, 0, 1]),
}

test('base64url is decoded only in its canonical form', () => {
  expect(decodeBase64url('_-8')).toEqual(new Uint8Array([255, 239]))
  for (const text of ['_-9', '_', '_-8=', '+/8', ' _-8', 'é']) {
    expect([text, decodeBase64url(text)]).toEqual([text, null])
  }
})

describe('RFC 9068 §4: validation of access tokens', () => {
  const { keys } = JSON.parse(env.SIGNING_KEYS)

  const forge = async (header: { alg?: string; typ?: string }, changed: object) => {
    const { access_token } = await partner()
    const real = decodeProtectedHeader(access_token)
    const jwt = new SignJWT({ ...decodeJwt(access_token), ...changed })
    return jwt
      .setProtectedHeader({ ...real, alg: 'RS256', ...header })
      .sign(header.alg ? new TextEncoder().encode(keys[0].n) : await importJWK(keys[0], 'RS256'))
  }

  test.each([
    ['of another type', { typ: 'JWT' }, {}],
    ['of another issuer', {}, { iss: 'https://other.example' }],
    ['for another audience', {}, { aud: 'https://other.example' }],
    ['without a client', {}, { client_id: undefined }],
    ['without an expiry', {}, { exp: undefined }],
    ['that has expired', {}, { exp: Math.floor(Date.now() / 1000) - 1 }],
    ['without an object that opened it', {}, { jti: 'made-up' }],
    ['signed with our public key as a shared secret', { alg: 'HS256' }, {}],
  ])('a token %s gets 401', async (_, header, changed) => {
    const response = await list(`Bearer ${await forge(header, changed)}`)

    expect(response.status).toBe(401)
    expect(response.headers.get('WWW-Authenticate')).toBe(INVALID)
  })

  test('the first key signs, all listed keys verify, a removed key does not', async () => {
    const [first, second] = keys
    const withKeys = (...listed: object[]) => ({
      BASE_URL: ORIGIN,
      SIGNING_KEYS: JSON.stringify({ keys: listed }),
    })
    const now = Date.now()
    const token = await issueAccessToken({ client_id: 'c', jti: 'j' }, withKeys(second, first), now)

    expect(decodeProtectedHeader(token).kid).toBe('second')
    expect(await verifyAccessToken(token, withKeys(first, second), now)).toMatchObject({ jti: 'j' })
    expect(await verifyAccessToken(token, withKeys(first), now)).toBeNull()
  })

  test('requests get 503, not 401, if the signing keys are unusable', async () => {
    const { access_token } = await partner()
    const request = new Request(`${ORIGIN}/api/v1/forex/customers`, {
      headers: { Authorization: `Bearer ${access_token}` },
    })

    expect((await fetchWith({ ...env, SIGNING_KEYS: 'none' }, request)).status).toBe(503)
    const small = { ...RSA, modulusLength: 1024 }
    const pair = (await crypto.subtle.generateKey(small, true, ['sign', 'verify'])) as CryptoKeyPair
    const weak = { ...(await exportJWK(pair.privateKey)), kid: 'first' }
    const { d: _, ...published } = keys[0]
    for (const key of [weak, published]) {
      const SIGNING_KEYS = JSON.stringify({ keys: [key] })
      expect((await fetchWith({ ...env, SIGNING_KEYS }, request.clone())).status).toBe(503)
    }
  })

  test('a key without its private part cannot sign a cursor', async () => {
    const acme = await partner()
    await acme.post('customers', [ada, { ...ada, customer_id: 'c-2' }])
    const { d: _, ...published } = keys[1]
    const platform = { ...env, SIGNING_KEYS: JSON.stringify({ keys: [keys[0], published] }) }
    const read = (query: string) =>
      fetchWith(
        platform,
        new Request(`${ORIGIN}/api/v1/forex/customers${query}`, {
          headers: { Authorization: `Bearer ${acme.access_token}` },
        }),
      )
    expect((await read('?per_page=1')).status).toBe(503)
    expect((await read('')).status).toBe(200)
  })

  test('a token expires after exactly 3600 seconds', async () => {
    const now = Date.UTC(2026, 10, 20)
    const token = await issueAccessToken({ client_id: 'c', jti: 'j' }, env, now)

    expect(await verifyAccessToken(token, env, now + 3_600_000 - 1)).not.toBeNull()
    expect(await verifyAccessToken(token, env, now + 3_600_000)).toBeNull()
  })

  test('cached verifications are correct beyond the cache size and per issuer', async () => {
    const now = Date.now()
    const tokens = await Promise.all(
      Array.from({ length: 101 }, (_, i) =>
        issueAccessToken({ client_id: 'c', jti: `j-${i}` }, env, now),
      ),
    )
    for (const pass of [1, 2]) {
      for (const [i, token] of tokens.entries()) {
        expect([pass, await verifyAccessToken(token, env, now)]).toMatchObject([
          pass,
          { jti: `j-${i}` },
        ])
      }
    }
    const elsewhere = { ...env, BASE_URL: 'https://elsewhere.example' }
    expect(await verifyAccessToken(tokens[100]!, elsewhere, now)).toBeNull()
  })
})
