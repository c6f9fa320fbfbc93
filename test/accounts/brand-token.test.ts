import {
  abortAllDurableObjects,
  createExecutionContext,
  runInDurableObject,
  waitOnExecutionContext,
} from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, test, vi } from 'vitest'
import { grantOf, settingsOf } from '../../src/platform/auth/grant.ts'
import { type RateState, REQUESTS_PER_WINDOW } from '../../src/platform/auth/rate.ts'
import { digest, isWellFormed, newSecret } from '../../src/platform/auth/secret.ts'
import { brandTokenObjectName } from '../../src/platform/auth/token-gate.ts'
import { findAccount } from '../../src/platform/directory/accounts.ts'
import { brand, caller, deposited, eve } from '../brand.ts'
import { fetchWith } from '../checked-fetch.ts'
import { countCalls, overriding } from '../ingest/watched.ts'
import {
  ada,
  ask,
  askAdmin,
  askToken,
  deposit,
  json,
  ORIGIN,
  issuedPartner as partner,
} from '../partner.ts'
import { runCron } from '../platform/crons.ts'

const tokenObjectOf = async (token: string) =>
  env.TOKEN_GATE.getByName(brandTokenObjectName(await digest(token)))

const regenerate = (account: string, overlap?: string) =>
  json(askAdmin(`accounts/${account}/brand-tokens`, 'POST', overlap ? { overlap } : {}))

/** Returns the status, challenge and body of a refusal, without its request id. */
async function refusal(response: Response) {
  const { request_id, ...body } = await json(response)
  expect(request_id).toBe(response.headers.get('X-Request-Id'))
  return [response.status, response.headers.get('WWW-Authenticate'), body]
}

describe('Brand Tokens', () => {
  test('a Brand Token has the common secret format and only its digest is stored', async () => {
    const { brand_token } = await brand()

    expect(brand_token).toMatch(/^tbt_test_[0-9A-Za-z]{49}$/)
    expect(isWellFormed(brand_token, 'tbt')).toBe(true)
    const { results } = await env.DB.prepare('select * from brand_tokens').all()
    expect(JSON.stringify(results)).not.toContain(brand_token)
    const logged = await json(askAdmin('audit-log'))
    expect(JSON.stringify(logged)).not.toContain(brand_token)
  })

  test('missing, malformed, unknown and ended Brand Tokens get the same 401', async () => {
    const { account, brand_token } = await brand()
    const { brand_token: next } = await regenerate(account, 'none')
    const sent: Record<string, string>[] = [
      {},
      { 'x-api-key': '' },
      { 'x-api-key': 'x' },
      { 'x-api-key': newSecret('tbt', 'test') },
      { 'x-api-key': newSecret('tcs', 'test') },
      { 'x-api-key': brand_token },
      { 'x-api-key': `${next}, ${next}` },
      { 'x-api-key': `${next.slice(0, 20)} ${next.slice(20)}` },
      { 'x-api-key': next.toLowerCase() },
    ]
    const first = await refusal(await ask('/tracking/events/customers'))
    expect(first.slice(0, 2)).toEqual([401, 'ApiKey realm="tracking", header="x-api-key"'])
    expect(first[2]).toMatchObject({ code: 'invalid_api_key' })
    for (const headers of sent) {
      for (const method of ['GET', 'POST']) {
        const response = await ask('/tracking/events/customers', { method, headers })
        expect([headers, await refusal(response)]).toEqual([headers, first])
      }
    }
    expect((await caller(next).get('customers')).status).toBe(200)
  })

  test('the header name is case-insensitive and its value may have surrounding spaces', async () => {
    const { brand_token } = await brand()
    for (const headers of [{ 'X-API-KEY': brand_token }, { 'X-Api-Key': ` ${brand_token}  ` }]) {
      expect((await ask('/tracking/events/account', { headers })).status).toBe(200)
    }
  })

  test('a Brand Token with one wrong character is refused without a lookup', async () => {
    const { brand_token } = await brand()
    const resultOf = async (key: string) => {
      const seen = await countCalls('/tracking/events/customers', { headers: { 'x-api-key': key } })
      return [seen.response.status, seen.calls, seen.trips]
    }
    const typo =
      brand_token.slice(0, -9) + (brand_token.at(-9) === 'x' ? 'y' : 'x') + brand_token.slice(-8)
    expect(await resultOf(typo)).toEqual([401, [], 0])
    expect(await resultOf(newSecret('tbt', 'live'))).toEqual([401, ['admit'], 0])
    expect(await resultOf(brand_token)).toEqual([200, ['admit'], 1])
  })

  test('a Brand Token opens neither partner routes nor administration routes', async () => {
    const { brand_token } = await brand()
    const acme = await partner()
    const headers = { 'x-api-key': brand_token, Authorization: `Bearer ${brand_token}` }
    expect((await ask('/api/v1/forex/customers', { headers })).status).toBe(401)
    expect((await ask('/admin/v1/accounts', { headers })).status).toBe(401)
    expect((await caller(acme.access_token).get('customers')).status).toBe(401)
  })

  test('a Brand Token has the rate limit of an access token', async () => {
    const { brand_token, get, post } = await brand()
    for (const [i, response] of [
      await get('customers'),
      await post('customers', {}),
      await get('nowhere'),
    ].entries()) {
      expect(response.headers.get('RateLimit-Policy')).toBe('"token";q=1000;w=60')
      expect(response.headers.get('RateLimit')).toMatch(
        new RegExp(`r=${REQUESTS_PER_WINDOW - 1 - i};`),
      )
    }
    const times = Array.from({ length: REQUESTS_PER_WINDOW }, () => Date.now())
    await runInDurableObject(await tokenObjectOf(brand_token), (_, { storage }) =>
      storage.kv.put('rate', { times, lease: 0, used: 0 } satisfies RateState),
    )
    await abortAllDurableObjects()

    const refused = await post('customers', eve)
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0)
    const { n } = (await env.DB.prepare('select count(*) as n from customers').first<{
      n: number
    }>())!
    expect(n).toBe(0)
  })
})

describe('regeneration', () => {
  test('regeneration without overlap ends the old token at once', async () => {
    const { account, get } = await brand()
    const { brand_token } = await regenerate(account, 'none')

    expect((await get('account')).status).toBe(401)
    expect((await caller(brand_token).get('account')).status).toBe(200)
  })

  test('a late message cannot reopen a Brand Token that has ended', async () => {
    const { account, brand_token, get } = await brand()
    const older = (await findAccount(env.DB, account))!
    await regenerate(account, 'none')
    await scheduler.wait(20)
    await (await tokenObjectOf(brand_token)).open(grantOf(older, null, 'read write'), null)

    expect((await get('account')).status).toBe(401)
  })

  test.each([
    ['1h', 3_600_000],
    ['24h', 86_400_000],
    ['7d', 604_800_000],
  ])('an overlap of %s keeps the old token exactly that long', async (overlap, ms) => {
    const { account, brand_token, get } = await brand()
    await regenerate(account, overlap)

    expect((await get('account')).status).toBe(200)
    const tokenObject = await tokenObjectOf(brand_token)
    const until = await runInDurableObject(tokenObject, (_, { storage }) =>
      storage.kv.get<number>('until'),
    )
    expect(Math.abs(until! - Date.now() - ms)).toBeLessThan(10_000)
    await runInDurableObject(tokenObject, (_, { storage }) => storage.kv.put('until', Date.now()))
    expect((await get('account')).status).toBe(401)
  })

  test('a request without `overlap` keeps the old credentials for 24 hours', async () => {
    const casino = await brand()
    const { created_at } = await regenerate(casino.account)
    const { data } = await json(askAdmin(`accounts/${casino.account}/brand-tokens`))
    expect(Date.parse(data[0].ends_at) - Date.parse(created_at)).toBe(86_400_000)
    expect((await casino.get('account')).status).toBe(200)

    const acme = await partner()
    const at = `accounts/${acme.account}/clients/${acme.client_id}/rotate`
    const { previous_secret_until } = await json(askAdmin(at, 'POST', {}))
    const hours = (Date.parse(previous_secret_until) - Date.now()) / 3_600_000
    expect(Math.round(hours * 10) / 10).toBe(24)
    expect((await acme.get('account')).status).toBe(200)

    const log = (await json(askAdmin('audit-log'))).data.slice(0, 2)
    expect(log.map(({ details }: { details: { overlap: string } }) => details.overlap)).toEqual([
      '24h',
      '24h',
    ])
  })

  test('a second regeneration never extends the life of an ending token', async () => {
    const { account, get } = await brand()
    await regenerate(account, '1h')
    const before = (await json(askAdmin(`accounts/${account}/brand-tokens`))).data[0].ends_at
    await regenerate(account, '7d')

    const { data } = await json(askAdmin(`accounts/${account}/brand-tokens`))
    expect(data.map(({ alive }: { alive: boolean }) => alive)).toEqual([true, true, true])
    expect(data[0].ends_at).toBe(before)
    expect((await get('account')).status).toBe(200)
  })

  test('regeneration with an overlap fails no request, and revocation ends the token', async () => {
    const { account, post } = await brand()
    let posting = true
    const statuses: number[] = []
    const load = async (name: string) => {
      for (let i = 0; posting; i++) {
        const record = { ...deposited, eventid: `${name}-${i}` }
        statuses.push((await post('activities', [record])).status)
      }
    }
    const done = Promise.all(['a', 'b', 'c', 'd'].map(load))
    await scheduler.wait(100)
    const { brand_token } = await regenerate(account, '1h')
    await scheduler.wait(100)
    posting = false
    await done

    expect(statuses.length).toBeGreaterThan(10)
    expect(statuses.filter((status) => status !== 200)).toEqual([])
    const { data } = await json(askAdmin(`accounts/${account}/brand-tokens`))
    const old = data.find(({ ends_at }: { ends_at: string | null }) => ends_at !== null)
    expect((await askAdmin(`accounts/${account}/brand-tokens/${old.id}`, 'DELETE')).status).toBe(
      204,
    )
    expect((await post('activities', [deposited])).status).toBe(401)
    expect((await caller(brand_token).post('activities', [deposited])).status).toBe(200)
  })
})

test('the list of Brand Tokens shows which are alive and when they end', async () => {
  const { account } = await brand()
  const second = await regenerate(account, '1h')
  const list = async () =>
    (await json(askAdmin(`accounts/${account}/brand-tokens`))).data as Record<string, unknown>[]
  const [first] = await list()
  const row = { id: expect.any(String), created_at: expect.any(String) }
  expect(await list()).toEqual([
    { ...row, alive: true, ends_at: expect.stringMatching(/^20.*Z$/) },
    { ...row, id: second.id, created_at: second.created_at, alive: true, ends_at: null },
  ])
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(String(first!.ends_at)) - 1 })
  expect((await list()).map(({ alive }) => alive)).toEqual([true, true])
  vi.setSystemTime(Date.now() + 1)
  expect((await list()).map(({ alive }) => alive)).toEqual([false, true])

  const before = (await json(askAdmin('audit-log'))).meta.total
  const at = `accounts/${account}/brand-tokens`
  expect((await askAdmin(`${at}/${first!.id}`, 'DELETE')).status).toBe(204)
  expect((await json(askAdmin('audit-log'))).meta.total).toBe(before)
  expect((await askAdmin(`${at}/${second.id}`, 'DELETE')).status).toBe(204)
  expect(await list()).toMatchObject([
    { alive: false, ends_at: first!.ends_at },
    { alive: false, ends_at: new Date().toISOString() },
  ])
  expect(await json(askAdmin(`${at}/nobody`, 'DELETE'))).toMatchObject({
    code: 'not_found',
    detail: 'There is no Brand Token `nobody`.',
  })
})

describe('changed settings', () => {
  test('a changed setting reaches the live Brand Tokens before their next request', async () => {
    const { account, get, post } = await brand()
    await post('activities', deposited)
    await askAdmin(`accounts/${account}`, 'PATCH', { unknown_customer: 'reject', name: 'New' })

    expect((await post('activities', { ...deposited, eventid: 'e-2' })).status).toBe(422)
    expect(await json(get('account'))).toMatchObject({
      name: 'New',
      policies: { unknown_customer: 'reject' },
    })
  })

  test("a changed setting reaches a partner's live and later access tokens", async () => {
    const { account, client_id, client_secret, post } = await partner()
    expect((await post('transactions', deposit)).status).toBe(422)
    await askAdmin(`accounts/${account}`, 'PATCH', { unknown_customer: 'hold' })

    expect((await post('transactions', deposit)).status).toBe(200)
    const form = { grant_type: 'client_credentials', client_id, client_secret }
    const { access_token } = await json(askToken(form))
    const answer = await ask('/api/v1/forex/account', {
      headers: { Authorization: `Bearer ${access_token}` },
    })
    expect(await json(answer)).toMatchObject({ policies: { unknown_customer: 'hold' } })
  })

  test('disabling an account suspends all of its tokens until it is enabled', async () => {
    const casino = await brand()
    const acme = await partner()
    const status = async () => [
      (await casino.get('account')).status,
      (await acme.get('account')).status,
    ]
    for (const [disabled, expected] of [
      [true, [401, 401]],
      [false, [200, 200]],
    ] as const) {
      for (const { account } of [casino, acme]) {
        await askAdmin(`accounts/${account}`, 'PATCH', { disabled })
      }
      expect(await status()).toEqual(expected)
    }
  })

  test('the next cron propagates a setting that has not reached its tokens', async () => {
    const { account, get } = await brand()
    await env.DB.exec("update accounts set version = version + 1, name = 'Later'")
    expect((await json(get('account'))).name).toBe(`The ${account}`)

    const context = createExecutionContext()
    await runCron('* * * * *')
    await waitOnExecutionContext(context)
    expect((await json(get('account'))).name).toBe('Later')
    const row = await env.DB.prepare('select version, pushed from accounts').first()
    expect(row!.pushed).toBe(row!.version)
  })

  test('a change that cannot be propagated is stored and reported as pending', async () => {
    const casino = await brand()
    const gone = Object.assign(new Error('gone'), { overloaded: true })
    const TOKEN_GATE = overriding(env.TOKEN_GATE, {
      getByName: () => ({
        open: () => Promise.reject(gone),
        end: () => Promise.reject(gone),
      }),
    })
    const at = (path: string, method: string, body: string | null = null) =>
      fetchWith(
        { ...env, TOKEN_GATE } as Env,
        new Request(`${ORIGIN}/admin/v1/accounts/${casino.account}/${path}`, {
          method,
          body,
          headers: {
            Authorization: `Bearer ${env.ADMIN_KEY}`,
            'Content-Type': 'application/json',
          },
        }),
      )
    const issued = await json(at('brand-tokens', 'POST', '{"overlap": "none"}'))
    expect(issued).toMatchObject({ takes_effect: 'within a minute' })
    expect((await casino.get('account')).status).toBe(200)
    const { data } = await json(askAdmin(`accounts/${casino.account}/brand-tokens`))
    const refused = await at(`brand-tokens/${data[1].id}`, 'DELETE')
    expect([refused.status, (await json(refused)).detail]).toEqual([
      503,
      'The change was stored and takes effect within a minute. Repeat the same request after 10 seconds.',
    ])
    await runCron('* * * * *')
    expect((await casino.get('account')).status).toBe(401)
    expect((await caller(issued.brand_token).get('account')).status).toBe(401)
  })

  test('a late message with older settings never replaces newer ones', async () => {
    const { account, brand_token, get } = await brand()
    const older = (await findAccount(env.DB, account))!
    await askAdmin(`accounts/${account}`, 'PATCH', { name: 'Newer' })
    const tokenObject = await tokenObjectOf(brand_token)
    await tokenObject.open(grantOf(older, null, 'read write'), null)
    await tokenObject.change(settingsOf(older, { events: [], statuses: [] }))

    expect((await json(get('account'))).name).toBe('Newer')
  })

  test('a token that ended before it opened stays ended for 8 days', async () => {
    const acme = await partner()
    const grant = grantOf((await findAccount(env.DB, acme.account))!, 'client', 'read')
    const tokenObject = env.TOKEN_GATE.getByName('jti-ended')
    await tokenObject.end()
    await tokenObject.open(grant, Date.now() + 1000)

    const week = 7 * 24 * 60 * 60 * 1000
    await runInDurableObject(tokenObject, async (_, { storage }) => {
      expect(await storage.getAlarm()).toBeGreaterThan(Date.now() + week)
      expect(storage.kv.get('grant')).toBeUndefined()
    })
    expect(await tokenObject.admit()).toBeNull()
  })

  test('a token from an older account record has the newer settings', async () => {
    const acme = await partner()
    const account = (await findAccount(env.DB, acme.account))!
    const clientObject = env.CLIENT_GATE.getByName(`client:${acme.client_id}`)
    await clientObject.applySettings(
      1,
      settingsOf({ ...account, name: 'Newer', version: 9 }, { events: [], statuses: [] }),
    )
    await clientObject.applySettings(
      1,
      settingsOf({ ...account, name: 'Older', version: 8 }, { events: [], statuses: [] }),
    )
    const { client_id, client_secret } = acme
    const form = { grant_type: 'client_credentials', client_id, client_secret }
    const { access_token } = await json(askToken(form))
    const headers = { Authorization: `Bearer ${access_token}` }

    expect((await json(ask('/api/v1/forex/account', { headers }))).name).toBe('Newer')
  })

  test('a change takes effect after the database was restored', async () => {
    const casino = await brand()
    const acme = await partner()
    for (const { account } of [casino, acme]) {
      for (const name of ['a', 'b', 'c']) await askAdmin(`accounts/${account}`, 'PATCH', { name })
    }
    await env.DB.exec('update accounts set version = 2, pushed = 2')
    for (const { account } of [casino, acme]) {
      const changed = await json(askAdmin(`accounts/${account}`, 'PATCH', { disabled: true }))
      expect(changed.takes_effect).toBe('now')
    }
    expect([(await casino.get('account')).status, (await acme.get('account')).status]).toEqual([
      401, 401,
    ])
  })

  test('settings that arrive before their token opens apply to it', async () => {
    const acme = await partner()
    const account = (await findAccount(env.DB, acme.account))!
    const tokenObject = env.TOKEN_GATE.getByName('jti-new')
    await tokenObject.change(
      settingsOf({ ...account, name: 'Newer', version: 9 }, { events: [], statuses: [] }),
    )
    await tokenObject.change(
      settingsOf({ ...account, name: 'Older', version: 8 }, { events: [], statuses: [] }),
    )
    await tokenObject.open(grantOf(account, 'client', 'read'), Date.now() + 1000)

    expect((await tokenObject.admit())!.grant).toMatchObject({
      name: 'Newer',
      version: 9,
      scope: 'read',
    })
  })
})

describe('OAuth clients', () => {
  const rotate = (acme: { account: string; client_id: string }, overlap: string) =>
    json(askAdmin(`accounts/${acme.account}/clients/${acme.client_id}/rotate`, 'POST', { overlap }))
  const tokenBy = (client_id: string, client_secret: string) =>
    askToken({ grant_type: 'client_credentials', client_id, client_secret })

  test('a new client can get a token, and its secret appears once', async () => {
    const { account } = await partner()
    const issued = await json(askAdmin(`accounts/${account}/clients`, 'POST', {}))

    expect(isWellFormed(issued.client_secret, 'tcs')).toBe(true)
    expect((await tokenBy(issued.client_id, issued.client_secret)).status).toBe(200)
    const listed = await askAdmin(`accounts/${account}/clients`)
    expect(await listed.text()).not.toContain(issued.client_secret)
  })

  test('a rotation with overlap keeps tokens and the old secret until it ends', async () => {
    const acme = await partner()
    const { client_secret } = await rotate(acme, '1h')

    expect((await acme.get('account')).status).toBe(200)
    expect((await tokenBy(acme.client_id, acme.client_secret)).status).toBe(200)
    expect((await tokenBy(acme.client_id, client_secret)).status).toBe(200)
    await env.DB.exec('update clients set previous_ends_at = 0')
    expect((await tokenBy(acme.client_id, acme.client_secret)).status).toBe(401)
  })

  test('the list of clients shows which are revoked and when a previous secret ends', async () => {
    const acme = await partner()
    const at = `accounts/${acme.account}/clients`
    const list = async () => (await json(askAdmin(at))).data as Record<string, unknown>[]
    const created_at = '2026-01-01T00:00:00.000Z'
    const { client_id } = acme
    const client = { client_id, revoked: false, previous_secret_until: null, created_at }
    expect(await list()).toEqual([client])

    const { previous_secret_until } = await rotate(acme, '1h')
    expect(Math.abs(Date.parse(previous_secret_until) - Date.now() - 3_600_000)).toBeLessThan(5000)
    expect(await list()).toEqual([{ ...client, previous_secret_until }])
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(previous_secret_until) - 1 })
    expect(await list()).toEqual([{ ...client, previous_secret_until }])
    vi.setSystemTime(Date.now() + 1)
    expect(await list()).toEqual([client])
    vi.useRealTimers()

    expect(await rotate(acme, 'none')).toEqual({
      client_id,
      client_secret: expect.stringMatching(/^tcs_test_/),
      previous_secret_until: null,
      takes_effect: 'now',
    })
    await rotate(acme, '1h')
    expect((await askAdmin(`${at}/${client_id}`, 'DELETE')).status).toBe(204)
    expect(await list()).toEqual([{ ...client, revoked: true }])
    expect(await json(askAdmin(`${at}/${client_id}/rotate`, 'POST', {}))).toMatchObject({
      code: 'conflict',
      detail: 'The client is revoked.',
    })
    expect(await json(askAdmin(`${at}/nobody`, 'DELETE'))).toMatchObject({
      code: 'not_found',
      detail: 'There is no client `nobody`.',
    })
  })

  test('a second rotation during an overlap ends the secret before', async () => {
    const acme = await partner()
    const second = await rotate(acme, '24h')
    const third = await rotate(acme, '1h')
    expect((await tokenBy(acme.client_id, acme.client_secret)).status).toBe(401)
    for (const secret of [second.client_secret, third.client_secret]) {
      expect((await tokenBy(acme.client_id, secret)).status).toBe(200)
    }
    const last = await rotate(acme, 'none')
    for (const secret of [second.client_secret, third.client_secret]) {
      expect((await tokenBy(acme.client_id, secret)).status).toBe(401)
    }
    expect((await tokenBy(acme.client_id, last.client_secret)).status).toBe(200)
  })

  test('revocation or rotation without overlap ends tokens before their next request', async () => {
    const acme = await partner()
    const { client_secret } = await rotate(acme, 'none')
    expect((await acme.get('account')).status).toBe(401)
    expect((await tokenBy(acme.client_id, acme.client_secret)).status).toBe(401)

    const { access_token } = await json(tokenBy(acme.client_id, client_secret))
    const headers = { Authorization: `Bearer ${access_token}` }
    expect((await ask('/api/v1/forex/account', { headers })).status).toBe(200)
    const at = `accounts/${acme.account}/clients/${acme.client_id}`
    expect((await askAdmin(at, 'DELETE')).status).toBe(204)
    expect((await ask('/api/v1/forex/account', { headers })).status).toBe(401)
    expect((await tokenBy(acme.client_id, client_secret)).status).toBe(401)
    expect((await askAdmin(`${at}/rotate`, 'POST', {})).status).toBe(409)
  })

  test('only partners have OAuth clients, and only brands have Brand Tokens', async () => {
    const casino = await brand()
    const acme = await partner()
    expect((await askAdmin(`accounts/${casino.account}/clients`, 'POST', {})).status).toBe(409)
    expect((await askAdmin(`accounts/${acme.account}/brand-tokens`, 'POST', {})).status).toBe(409)
    expect((await acme.post('customers', ada)).status).toBe(201)
  })
})
