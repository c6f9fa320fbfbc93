import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { describe, expect, test, vi } from 'vitest'
import { app } from '../../src/app.ts'
import { clientAddress } from '../../src/platform/auth/address.ts'
import { attemptWait, issuingWait, SECRET_LIMITS } from '../../src/platform/auth/client-limits.ts'
import { settingsOf } from '../../src/platform/auth/grant.ts'
import { newSecret } from '../../src/platform/auth/secret.ts'
import { findAccount } from '../../src/platform/directory/accounts.ts'
import { fetchWith } from '../checked-fetch.ts'
import { ask, askToken, json, ORIGIN, issuedPartner as partner, register } from '../partner.ts'

const grant = { grant_type: 'client_credentials' }
const basicOf = (id: string, secret: string) => ({
  Authorization: `Basic ${btoa(`${id}:${secret}`)}`,
})

/** Registers a client. Returns its form with a secret, and the Basic header that may replace it. */
const client = async () => {
  const { client_id, client_secret } = await register('forex')
  return {
    client_id,
    client_secret,
    form: { ...grant, client_id, client_secret },
    basic: basicOf(client_id, client_secret),
  }
}

const expectError = async (response: Response, status: number, error: string) => {
  expect([response.status, (await json(response.clone())).error]).toEqual([status, error])
  expect(await json(response)).toEqual({ error, error_description: expect.any(String) })
  expect(response.headers.get('Content-Type')).toBe('application/json')
  expect(response.headers.get('Cache-Control')).toBe('no-store')
  expect(response.headers.get('Pragma')).toBe('no-cache')
  expect(response.headers.get('WWW-Authenticate')).toBe(
    status === 401 ? 'Basic realm="oauth", charset="UTF-8"' : null,
  )
}

describe('RFC 6749 §4.4: the client credentials grant', () => {
  test.each(['token', 'revoke'])('a truncated form for %s is invalid_request', async (path) => {
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode('grant')),
      pull: (controller) => controller.error(new Error('The caller has gone.')),
    })
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
    const sent = new Request(`${ORIGIN}/oauth/${path}`, { method: 'POST', headers, body })
    await expectError(await app.fetch(sent, env, createExecutionContext()), 400, 'invalid_request')
  })

  test.each(['token', 'revoke'])('a form for %s must arrive within 10 seconds', async (path) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode('grant')),
    })
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
    const sent = new Request(`${ORIGIN}/oauth/${path}`, { method: 'POST', headers, body })
    let isAnswered = false
    const answering = Promise.resolve(app.fetch(sent, env, createExecutionContext())).finally(
      () => {
        isAnswered = true
      },
    )
    await scheduler.wait(20)
    await vi.advanceTimersByTimeAsync(9999)
    expect(isAnswered).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    const response = await answering
    expect((await json(response.clone())).error_description).toContain('within 10 seconds')
    await expectError(response, 400, 'invalid_request')
    vi.useRealTimers()
  })

  test('§2.3.1 client_secret_post and client_secret_basic are both accepted', async () => {
    const { form, basic } = await client()
    for (const response of [await askToken(form), await askToken(grant, basic)]) {
      expect(response.status).toBe(200)
      expect(await json(response)).toEqual({
        access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
        token_type: 'Bearer',
        expires_in: 3600,
        scope: 'read write',
      })
      expect(response.headers.get('Cache-Control')).toBe('no-store')
      expect(response.headers.get('Pragma')).toBe('no-cache')
    }
  })

  test('§2.3.1 the client id and secret in Basic are form-encoded', async () => {
    const { client_id, client_secret } = await client()
    const encoded = basicOf(client_id.replaceAll('-', '%2D'), client_secret.replaceAll('_', '%5F'))

    expect((await askToken(grant, encoded)).status).toBe(200)
  })

  test('§2.3.1 a client_id in the form must match the one in Basic', async () => {
    const { client_id, basic } = await client()

    expect((await askToken({ ...grant, client_id }, basic)).status).toBe(200)
    await expectError(await askToken({ ...grant, client_id: 'x' }, basic), 400, 'invalid_request')
  })

  test('§2.3 two authentication methods in one request are refused', async () => {
    const { form, basic } = await client()

    await expectError(await askToken(form, basic), 400, 'invalid_request')
    await expectError(await askToken(form, { Authorization: 'Bearer x' }), 400, 'invalid_request')
  })

  test('§3.3 a scope grants what it names, §5.2 another one is invalid_scope', async () => {
    const { form } = await client()
    for (const [scope, granted] of [
      ['read', 'read'],
      ['write', 'write'],
      ['write read', 'read write'],
      ['read read', 'read'],
      ['', 'read write'],
    ] as const) {
      expect([scope, (await json(askToken({ ...form, scope }))).scope]).toEqual([scope, granted])
    }
    for (const scope of ['admin', 'read admin', 'READ', 'read  write', ' read'])
      await expectError(await askToken({ ...form, scope }), 400, 'invalid_scope')
  })

  test('a form in a charset other than UTF-8 is refused', async () => {
    const { form } = await client()
    const type = 'application/x-www-form-urlencoded; charset='
    const body = new URLSearchParams(form).toString()
    const send = (charset: string) =>
      ask('/oauth/token', { method: 'POST', body, headers: { 'Content-Type': type + charset } })

    expect((await send('UTF-8')).status).toBe(200)
    await expectError(await send('iso-8859-1'), 400, 'invalid_request')
  })

  test('§5.2 another grant type is unsupported_grant_type', async () => {
    const { form } = await client()

    await expectError(
      await askToken({ ...form, grant_type: 'password' }),
      400,
      'unsupported_grant_type',
    )
  })
})

describe('RFC 6749 §3.2: the form', () => {
  const bodyOf = (form: Record<string, string>) => new URLSearchParams(form).toString()
  const bytesOf = (text: string) => Uint8Array.from(text, (char) => char.charCodeAt(0))
  const post = (body: string | Blob, type = 'application/x-www-form-urlencoded') =>
    ask('/oauth/token', {
      method: 'POST',
      body: typeof body === 'string' ? bytesOf(body) : body,
      headers: { 'Content-Type': type },
    })

  test('what is not one form of UTF-8 with a grant_type is invalid_request', async () => {
    const { form } = await client()
    for (const change of [
      // A repeated parameter.
      (body: string) => `${body}&grant_type=client_credentials`,
      // A repeated parameter, once empty.
      (body: string) => `${body}&client_id=`,
      // A repeated unknown parameter.
      (body: string) => `${body}&x=1&x=2`,
      // A stray percent sign.
      (body: string) => `${body}&x=%zz`,
      // Percent-encoded invalid UTF-8.
      (body: string) => `${body}&x=%ff`,
      // Raw invalid UTF-8.
      (body: string) => `${body}&x=\xff`,
      // A second equals sign.
      (body: string) => `${body}&x=a=b`,
      // A missing grant_type.
      (body: string) => body.replace(/grant_type=\w+&/, ''),
      // An empty grant_type.
      (body: string) => body.replace('client_credentials', ''),
    ]) {
      await expectError(await post(change(bodyOf(form))), 400, 'invalid_request')
    }
  })

  test('an empty parameter counts as omitted, an unknown one is ignored', async () => {
    const { form, basic } = await client()

    expect((await post(`${bodyOf(form)}&scope=&x=1`)).status).toBe(200)
    expect((await post(`${bodyOf(form)}&scope`)).status).toBe(200)
    expect((await askToken({ ...grant, client_id: '', client_secret: '' }, basic)).status).toBe(200)
  })

  test('a body of another encoding or type is invalid_request', async () => {
    const { form } = await client()
    const send = (headers: Record<string, string>) =>
      ask('/oauth/token', {
        method: 'POST',
        body: bodyOf(form),
        headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers },
      })
    for (const encoding of ['gzip', 'br', 'gzip, identity'])
      await expectError(await send({ 'Content-Encoding': encoding }), 400, 'invalid_request')
    expect((await send({ 'Content-Encoding': 'Identity' })).status).toBe(200)
    for (const type of ['application/json', 'text/plain', 'multipart/form-data; boundary=x', ''])
      await expectError(await post(new Blob([bodyOf(form)]), type), 400, 'invalid_request')
  })

  test('an empty body counts as a form without credentials', async () => {
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
    const response = await ask('/oauth/token', { method: 'POST', headers })

    await expectError(response, 401, 'invalid_client')
  })

  test('a form larger than 8 KiB gets 413 invalid_request', async () => {
    const { form } = await client()

    await expectError(await post(`${bodyOf(form)}&x=${'x'.repeat(70_000)}`), 413, 'invalid_request')
  })

  test('another method gets 405 with the Allow header', async () => {
    for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS']) {
      const response = await ask('/oauth/token', { method })

      await expectError(response.clone(), 405, 'invalid_request')
      expect(response.headers.get('Allow')).toBe('POST')
    }
  })

  test('an unknown path under /oauth gets an error of the same shape', async () => {
    await expectError(await ask('/oauth/nowhere', { method: 'POST' }), 404, 'invalid_request')
  })
})

describe('RFC 6749 §5.2: invalid_client', () => {
  test('a wrong secret and an unknown client get the same bytes', async () => {
    const { form } = await client()
    const otherSecret = newSecret('tcs', 'test')
    const answers = [
      await askToken({ ...form, client_secret: otherSecret }),
      await askToken({ ...form, client_secret: 'guess' }),
      await askToken({ ...form, client_id: 'nobody' }),
    ]
    const bodies = await Promise.all(answers.map((answer) => answer.clone().text()))

    for (const answer of answers) await expectError(answer, 401, 'invalid_client')
    expect(new Set(bodies).size).toBe(1)
  })

  test.each([
    ['none', {}],
    ['a client_id alone', { client_id: 'client-of-acme-forex' }],
    ['a secret alone', { client_secret: 'x' }],
  ])('incomplete credentials are invalid_client: %s', async (_, form) => {
    await client()

    await expectError(await askToken({ ...grant, ...form }), 401, 'invalid_client')
  })

  test.each([
    'Basic',
    'Basic !',
    'Basic YTpi YTpi',
    `Basic ${btoa('no colon')}`,
    `Basic ${btoa(':')}`,
    `Basic ${btoa('a:b:c')}`,
    `Basic ${btoa('a:%zz')}`,
    'Bearer YTpi',
    'Proxy-Basic YTpi',
    'x'.repeat(100_000),
  ])('a malformed Authorization header is invalid_client: %.30s', async (Authorization) => {
    await expectError(await askToken(grant, { Authorization }), 401, 'invalid_client')
  })

  test('right credentials after a scheme that only ends in Basic are invalid_client', async () => {
    const { client_id, client_secret } = await client()
    const basic = `Basic ${btoa(`${client_id}:${client_secret}`)}`
    expect((await askToken(grant, { Authorization: basic })).status).toBe(200)
    for (const Authorization of [`Proxy-${basic}`, `Bearer ${basic}`]) {
      await expectError(await askToken(grant, { Authorization }), 401, 'invalid_client')
    }
  })

  test('credentials in the query are refused even if the form is valid', async () => {
    const { form, client_id, client_secret } = await client()
    for (const query of [{ client_id, client_secret }, { client_secret }]) {
      const response = await ask(`/oauth/token?${new URLSearchParams(query)}`, {
        method: 'POST',
        body: new URLSearchParams(form),
      })
      await expectError(response, 401, 'invalid_client')
    }
  })

  test('a disabled account and a revoked client get no token', async () => {
    const { form } = await client()
    await env.DB.exec('update accounts set disabled = 1')
    await expectError(await askToken(form), 401, 'invalid_client')

    await env.DB.exec('update accounts set disabled = 0')
    expect((await askToken(form)).status).toBe(200)
    await env.DB.exec('update clients set revoked = 1')
    await expectError(await askToken(form), 401, 'invalid_client')
  })
})

describe('limits', () => {
  const from = (address: string) => ({ 'CF-Connecting-IP': address })

  const retryAfterOf = async (response: Response) => {
    await expectError(response.clone(), 429, 'temporarily_unavailable')
    const seconds = Number(response.headers.get('Retry-After'))
    expect(Number.isInteger(seconds) && seconds > 0).toBe(true)
    return seconds
  }

  test('20 wrong secrets block the client at that address only', async () => {
    const { form } = await client()
    const guess = { ...form, client_secret: 'guess' }
    for (let i = 0; i < 20; i++) {
      await expectError(await askToken(guess, from('192.0.2.1')), 401, 'invalid_client')
    }
    expect(await retryAfterOf(await askToken(guess, from('192.0.2.1')))).toBeLessThanOrEqual(600)
    await retryAfterOf(await askToken(form, from('192.0.2.1')))
    expect((await askToken(form, from('192.0.2.2'))).status).toBe(200)
  })

  test('the limit of 20 wrong secrets holds for simultaneous requests', async () => {
    const { form } = await client()
    const guess = { ...form, client_secret: 'guess' }
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => askToken(guess, from('192.0.2.1'))),
    )
    const statuses = answers.map(({ status }) => status)

    expect(statuses.filter((status) => status === 401)).toHaveLength(20)
    expect(statuses.filter((status) => status === 429)).toHaveLength(10)
  })

  test('an unknown client has the same limit as a known one', async () => {
    const guess = { ...grant, client_id: 'nobody', client_secret: 'guess' }
    for (let i = 0; i < 20; i++) await askToken(guess, from('192.0.2.1'))

    await retryAfterOf(await askToken(guess, from('192.0.2.1')))
  })

  test('200 wrong secrets for any clients block their address', async () => {
    const { form } = await client()
    await Promise.all(
      Array.from({ length: 200 }, (_, i) =>
        askToken({ ...grant, client_id: `c-${i}`, client_secret: 'x' }, from('192.0.2.1')),
      ),
    )
    await retryAfterOf(await askToken(form, from('192.0.2.1')))
    expect((await askToken(form, from('192.0.2.2'))).status).toBe(200)
  })

  test('wrong secrets from IPv6 addresses are counted by /64 prefix', async () => {
    const { form } = await client()
    const guess = { ...form, client_secret: 'guess' }
    for (let i = 0; i < 20; i++) await askToken(guess, from(`2001:db8:0:1::${i}`))

    await retryAfterOf(await askToken(form, from('2001:DB8::1:1:2:3:4')))
    expect((await askToken(form, from('2001:db8:0:2::1'))).status).toBe(200)
  })

  test.each([
    [null, 'unknown'],
    ['192.0.2.1', '192.0.2.1'],
    ['2001:DB8::5', '2001:db8:0:0::/64'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['1:2:3:4::', '1:2:3:4::/64'],
    ['2001::b:c:d:e:f', '2001:0:0:b::/64'],
    ['::b:c:d:e:f:1', '0:0:b:c::/64'],
    ['::1:ffff:192.0.2.1', '0:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    // An IPv4-mapped address is one IPv4 address, not a /64 network.
    ['::ffff:192.0.2.1', 'c000:201'],
    ['::fffe:192.0.2.1', '0:0:0:0::/64'],
    ['2001:db8:::', 'unknown'],
  ])('wrong secrets from %s count for %s', (header, address) => {
    expect(clientAddress(new Headers(header ? { 'CF-Connecting-IP': header } : {}))).toBe(address)
  })

  test('a client gets 60 tokens an hour, even with simultaneous requests', async () => {
    const { form } = await client()
    const answers = await Promise.all(Array.from({ length: 61 }, () => askToken(form)))

    expect(answers.filter(({ status }) => status === 200)).toHaveLength(60)
    const seconds = await retryAfterOf(answers.find(({ status }) => status !== 200)!)
    expect(seconds).toBeGreaterThan(3590)
    expect(seconds).toBeLessThanOrEqual(3600)
  })
})

describe('time limits and stored secrets', () => {
  test('a wrong secret counts for exactly ten minutes', () => {
    const failures = Array.from({ length: 20 }, (_, i) => ({ at: i, about: 'c' }))

    expect(attemptWait(failures.slice(1), 'c', SECRET_LIMITS, 19)).toBe(0)
    expect(attemptWait(failures, 'other', SECRET_LIMITS, 19)).toBe(0)
    expect(attemptWait(failures, 'c', SECRET_LIMITS, 19)).toBe(600)
    expect(attemptWait(failures, 'c', SECRET_LIMITS, 599_999)).toBe(1)
    expect(attemptWait(failures, 'c', SECRET_LIMITS, 600_000)).toBe(0)
    expect(attemptWait(failures, 'c', SECRET_LIMITS, 700_000)).toBe(0)
  })

  test('a client over the limit waits until its 20th newest wrong secret no longer counts', () => {
    const failures = Array.from({ length: 21 }, (_, i) => ({ at: i * 1000, about: 'c' }))

    expect(attemptWait(failures, 'c', SECRET_LIMITS, 20_000)).toBe(581)
  })

  test('a client over the limit waits until its 60th newest token expires', () => {
    const tokens = Array.from({ length: 61 }, (_, i) => ({
      jti: `${i}`,
      expiresAt: 3_600_000 + i * 1000,
      version: 1,
    }))

    expect(issuingWait(tokens, 60_000)).toBe(3541)
  })

  test('a token counts for its lifetime of one hour', () => {
    const tokens = Array.from({ length: 60 }, (_, i) => ({
      jti: `${i}`,
      expiresAt: 3_600_000 + i,
      version: 1,
    }))

    expect(issuingWait(tokens.slice(1), 59)).toBe(0)
    expect(issuingWait(tokens, 59)).toBe(3600)
    expect(issuingWait(tokens, 3_599_999)).toBe(1)
    expect(issuingWait(tokens, 3_600_000)).toBe(0)
  })

  test('an internal error gets 500 server_error', async () => {
    const { form } = await client()
    const request = new Request(`${ORIGIN}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams(form),
    })

    await expectError(await fetchWith({ ...env, DB: {} } as never, request), 500, 'server_error')
  })
})

describe('RFC 9068 §2: the access token', () => {
  test('an access token has these claims, with BASE_URL as issuer and audience', async () => {
    const { form, client_id } = await client()
    const response = await ask('/oauth/token', {
      method: 'POST',
      body: new URLSearchParams(form),
      headers: { Host: 'evil.example', 'X-Forwarded-Host': 'evil.example' },
    })
    const { access_token } = await json(response)

    expect(decodeProtectedHeader(access_token)).toEqual({
      alg: 'RS256',
      typ: 'at+jwt',
      kid: 'first',
    })
    const claims = decodeJwt(access_token)
    expect(claims).toEqual({
      iss: ORIGIN,
      aud: ORIGIN,
      sub: client_id,
      client_id,
      jti: expect.stringMatching(/^[\da-f-]{36}$/),
      iat: expect.any(Number),
      exp: claims.iat! + 3600,
      scope: 'read write',
    })
  })

  test('RFC 8414 §2: the metadata builds every URL from BASE_URL', async () => {
    const response = await ask('/.well-known/oauth-authorization-server')

    expect(response.headers.get('Cache-Control')).toBe('public, max-age=3600')
    expect(await json(response)).toEqual({
      issuer: ORIGIN,
      token_endpoint: `${ORIGIN}/oauth/token`,
      revocation_endpoint: `${ORIGIN}/oauth/revoke`,
      jwks_uri: `${ORIGIN}/.well-known/jwks.json`,
      grant_types_supported: ['client_credentials'],
      response_types_supported: [],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
      revocation_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
      scopes_supported: ['read', 'write'],
      service_documentation: `${ORIGIN}/docs`,
    })
  })

  test('RFC 7517: the key set has only the public part of each key', async () => {
    const response = await ask('/.well-known/jwks.json')
    const { keys } = await json(response)

    expect(response.headers.get('Cache-Control')).toBe('public, max-age=300')
    expect(keys.map((key: object) => Object.keys(key).sort())).toEqual(
      Array(2).fill(['alg', 'e', 'kid', 'kty', 'n', 'use']),
    )
  })
})

describe('RFC 7009: revocation', () => {
  const revoke = (form: Record<string, string>, headers = {}) =>
    ask('/oauth/revoke', { method: 'POST', body: new URLSearchParams(form), headers })

  test('§2.1 a client revokes its own token before the next request', async () => {
    const acme = await partner()
    const { client_id, client_secret, access_token: token } = acme
    expect((await acme.get('customers')).status).toBe(200)

    const response = await revoke({ token, client_id, client_secret, token_type_hint: 'x' })
    expect(response.status).toBe(200)
    expect(response.headers.get('Cache-Control')).toBe('no-store')
    const after = await acme.get('customers')
    expect(after.status).toBe(401)
    expect(after.headers.get('WWW-Authenticate')).toBe('Bearer realm="api", error="invalid_token"')
    expect((await revoke({ token, client_id, client_secret })).status).toBe(200)
  })

  test('§2.1 a client cannot revoke the token of another client', async () => {
    const acme = await partner()
    const other = await register('forex', { account: 'other' })
    const response = await revoke({ ...other, token: acme.access_token })

    expect((await json(response.clone())).error_description).toBe(
      'The token was issued to another client.',
    )
    await expectError(response, 400, 'invalid_request')
    expect((await acme.get('customers')).status).toBe(200)
  })

  test('§2.2 revoking an invalid token succeeds without effect', async () => {
    const { client_id, client_secret } = await client()

    expect((await revoke({ token: 'x.y.z', client_id, client_secret })).status).toBe(200)
  })

  test('§2.1 revocation requires a token and client credentials', async () => {
    const { client_id, client_secret } = await client()

    const withoutToken = await revoke({ client_id, client_secret })
    expect((await json(withoutToken.clone())).error_description).toBe(
      'The parameter `token` is missing.',
    )
    await expectError(withoutToken, 400, 'invalid_request')
    await expectError(await revoke({ token: 'x' }), 401, 'invalid_client')
  })
})

describe('a revoked or rotated client', () => {
  const applyVersion = async (client_id: string, version: number) => {
    const account = (await findAccount(env.DB, 'acme-forex'))!
    await env.CLIENT_GATE.getByName(`client:${client_id}`).applySettings(
      version,
      settingsOf(account, { events: [], statuses: [] }),
    )
  }

  test('a new token gets the database settings if the settings of its object are older', async () => {
    const { form, client_id } = await client()
    const settings = settingsOf((await findAccount(env.DB, 'acme-forex'))!, {
      events: [],
      statuses: [],
    })
    await env.CLIENT_GATE.getByName(`client:${client_id}`).applySettings(1, settings)
    await env.DB.exec("update accounts set name = 'Newer', version = version + 1")
    const { access_token } = await json(askToken(form))
    const headers = { Authorization: `Bearer ${access_token}` }

    expect((await json(ask('/api/v1/forex/account', { headers }))).name).toBe('Newer')
  })

  test('a client gets no token from an outdated client record', async () => {
    const { form, client_id } = await client()
    await applyVersion(client_id, 2)
    await expectError(await askToken(form), 401, 'invalid_client')

    await env.DB.exec('update clients set version = 2')
    expect((await askToken(form)).status).toBe(200)
  })
})

test('a secret has the documented prefix, length and checksum', async () => {
  const { isWellFormed } = await import('../../src/platform/auth/secret.ts')
  const secret = newSecret('tcs', 'live')

  expect(secret).toMatch(/^tcs_live_[0-9A-Za-z]{49}$/)
  expect(isWellFormed(secret, 'tcs')).toBe(true)
  expect(isWellFormed(secret, 'tbt')).toBe(false)
  for (let i = 0; i < secret.length; i++) {
    const other = secret[i] === 'a' ? 'b' : 'a'
    expect(isWellFormed(secret.slice(0, i) + other + secret.slice(i + 1), 'tcs')).toBe(false)
  }
  const { results } = await env.DB.prepare('select count(*) as n from clients').all()
  expect(results).toEqual([{ n: 0 }])
})
