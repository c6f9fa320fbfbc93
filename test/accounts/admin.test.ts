import { env } from 'cloudflare:workers'
import { generateKeyPair, SignJWT } from 'jose'
import { describe, expect, test, vi } from 'vitest'
import { DEFAULT_VIEW } from '../../src/platform/auth/affiliate-view.ts'
import { brand, dailyStats, deposited, eve } from '../brand.ts'
import { fetchWith } from '../checked-fetch.ts'
import { randomSource } from '../commission/worlds.ts'
import { anyTables, bytesOf, fillTables } from '../ingest/any-rows.ts'
import { memberKey } from '../members.ts'
import { ada, ask, askAdmin, deposit, json, issuedPartner as partner } from '../partner.ts'
import { ofTheTeam, teamKey } from '../team.ts'

const errors = async (response: Response | Promise<Response>) => {
  const body = await json(response)
  return body.errors.map(({ pointer, code }: { pointer: string; code: string }) => [pointer, code])
}
const actions = async (query = '') =>
  (await json(askAdmin(`audit-log${query}`))).data.map(({ action }: { action: string }) => action)

const newAccount = { account: 'acme', name: 'Acme', vertical: 'forex', mode: 'test' }

test('one of several identical simultaneous account creations succeeds, the others get 409', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  try {
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => askAdmin('accounts', 'POST', newAccount)),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(11).fill(409)])
    expect(await actions()).toEqual(['account.create'])
  } finally {
    vi.useRealTimers()
  }
})

describe('§8 administrator authentication', () => {
  const listWith = (headers: Record<string, string>) => ask('/admin/v1/accounts', { headers })

  test('only the exact admin key as a Bearer token is accepted', async () => {
    const key = env.ADMIN_KEY
    expect((await listWith({ Authorization: `Bearer ${key}` })).status).toBe(200)
    for (const wrongKey of [
      key.slice(0, -1),
      `${key}x`,
      key.toUpperCase(),
      `${key.slice(0, -1)}${key.endsWith('x') ? 'y' : 'x'}`,
      `${key.startsWith('x') ? 'y' : 'x'}${key.slice(1)}`,
      '',
      `${key} ${key}`,
    ]) {
      const response = await listWith({ Authorization: `Bearer ${wrongKey}` })
      expect(response.status).toBe(401)
      expect(response.headers.get('WWW-Authenticate')).toBe('Bearer realm="admin"')
      expect(await json(response)).toMatchObject({ code: 'invalid_admin' })
    }
    for (const headers of [
      {},
      { Authorization: key },
      { Authorization: `Basic Bearer ${key}` },
      { 'x-api-key': key },
    ]) {
      expect((await listWith(headers as Record<string, string>)).status).toBe(401)
    }
    expect((await ask(`/admin/v1/accounts?key=${key}`)).status).toBe(401)
  })

  // The team's keys are served by the outbound service of vitest.config.ts.
  const TEAM = env.ACCESS_TEAM
  const signed = async (
    claims: object,
    header: { kid?: string; alg?: string } = {},
    key?: CryptoKey,
  ) => {
    const { privateKey } = key ? { privateKey: key } : await generateKeyPair('RS256')
    return new SignJWT({ email: 'ada@team.example', ...claims })
      .setProtectedHeader({ alg: 'RS256', kid: 'team', ...header })
      .setIssuedAt()
      .sign(privateKey)
  }
  /** Creates an account with an assertion of Cloudflare Access. */
  const createWith = (assertion: string) =>
    ask('/admin/v1/accounts', {
      method: 'POST',
      headers: { 'Cf-Access-Jwt-Assertion': assertion, 'Content-Type': 'application/json' },
      body: JSON.stringify(newAccount),
    })
  const inAnHour = Math.floor(Date.now() / 1000) + 3600
  const validClaims = { iss: TEAM, aud: [env.ACCESS_AUD], exp: inAnHour }

  test('a Cloudflare Access JWT is accepted and names the actor in the audit log', async () => {
    await memberKey({ name: 'ada', role: 'approver' })
    const assertion = await signed(validClaims, {}, await teamKey())
    expect((await listWith({ 'Cf-Access-Jwt-Assertion': assertion })).status).toBe(200)
    await createWith(assertion)
    const { data } = await json(askAdmin('audit-log'))
    expect(data).toMatchObject([{ actor: 'ada@team.example', action: 'account.create' }])
  })

  test('a request is refused if its credential is not configured', async () => {
    const assertion = await ofTheTeam()
    const statusWith = async (bindings: Partial<Env>, headers: Record<string, string>) => {
      const request = new Request('https://api.example/admin/v1/accounts', { headers })
      return (await fetchWith({ ...env, ...bindings } as Env, request)).status
    }
    const noAdminKey = { ADMIN_KEY: '' } as object
    expect(await statusWith(noAdminKey, { Authorization: 'Bearer undefined' })).toBe(503)
    const short = 'k'.repeat(31)
    const shortKey = { ADMIN_KEY: short } as object
    expect(await statusWith(shortKey, { Authorization: `Bearer ${short}` })).toBe(503)
    for (const bindings of [{ ACCESS_TEAM: '' }, { ACCESS_AUD: '' }] as object[]) {
      expect(await statusWith(bindings, { 'Cf-Access-Jwt-Assertion': assertion })).toBe(401)
    }
  })

  test('a JWT with a wrong issuer, audience, key, expiry or signature is refused', async () => {
    const key = await teamKey()
    const unsigned = `${btoa('{"alg":"none"}')}.${btoa(JSON.stringify(validClaims))}.`.replaceAll(
      '=',
      '',
    )
    for (const assertion of [
      await signed({ ...validClaims, iss: 'https://evil.example' }, {}, key),
      await signed({ ...validClaims, aud: ['other'] }, {}, key),
      await signed({ ...validClaims, exp: inAnHour - 7200 }, {}, key),
      await signed({ iss: TEAM, aud: [env.ACCESS_AUD] }, {}, key),
      await signed(validClaims),
      await signed(validClaims, { kid: 'nobody' }, key),
      unsigned,
      'x.y.z',
    ]) {
      expect((await listWith({ 'Cf-Access-Jwt-Assertion': assertion })).status).toBe(401)
    }
  })
})

test('a cross-site page cannot use the assertion that the browser adds', async () => {
  const { account } = await brand()
  const assertion = await ofTheTeam()
  const post = (headers: Record<string, string>) =>
    ask(`/admin/v1/accounts/${account}/reset`, {
      method: 'POST',
      headers: { 'Cf-Access-Jwt-Assertion': assertion, Origin: 'https://evil.example', ...headers },
    })
  for (const type of [undefined, 'text/plain', 'application/x-www-form-urlencoded']) {
    expect((await post(type ? { 'Content-Type': type } : {})).status).toBe(415)
  }
  expect((await post({ 'Content-Type': 'application/json' })).status).toBe(204)
  for (const [method, status, site = 'none'] of [
    ['GET', 200],
    ['GET', 401, 'cross-site'],
    ['GET', 401, 'same-site'],
    ['HEAD', 200],
    ['OPTIONS', 405],
    ['DELETE', 415],
    ['PATCH', 415],
  ] as const) {
    const headers = { 'Cf-Access-Jwt-Assertion': assertion, 'Sec-Fetch-Site': site }
    const response = await ask(`/admin/v1/accounts/${account}`, { method, headers })
    expect([method, response.status]).toEqual([method, status])
  }
})

test('a request gets 503 if the keys of Access cannot be fetched', async () => {
  const jwt = ['{"alg":"RS256","kid":"team"}', '{"iss":"https://other.example"}', 'x'].map(btoa)
  const request = new Request('https://api.example/admin/v1/accounts', {
    headers: { 'Cf-Access-Jwt-Assertion': jwt.join('.').replaceAll('=', '') },
  })
  const other = { ...env, ACCESS_TEAM: 'https://other.example' }
  const response = await fetchWith(other, request)
  expect([response.status, response.headers.get('Retry-After')]).toEqual([503, '10'])
})

describe('accounts', () => {
  test('an account can be created, listed, read and changed', async () => {
    const created = await askAdmin('accounts', 'POST', newAccount)
    expect(created.status).toBe(201)
    const expected = {
      ...newAccount,
      ...{ time_zone: 'UTC', book_zone: 'UTC', amount_signs: 'magnitude', binding: 'DB' },
      ...{
        exports: 'off',
        landing_pages: [],
        journal_accounts: {},
        mail_name: null,
        reply_to: null,
      },
      ...{ self_billing: 'off', invoicing: {} },
      sign_up: { open: false, plan: null, questions: [] },
      policies: { unknown_customer: 'reject', unknown_affiliate: 'warn' },
      affiliate_view: DEFAULT_VIEW,
      storage_quota: 4 * 1024 ** 3,
      approvals: 1,
      disabled: false,
      jurisdiction: null,
      payee_hold_hours: 72,
      retain_years: 10,
      created_at: expect.any(String),
    }
    expect(await json(created)).toEqual(expected)
    expect(await json(askAdmin('accounts/acme'))).toEqual({ ...expected, storage_bytes: 0 })
    const change = {
      name: 'New',
      time_zone: 'Europe/Berlin',
      unknown_affiliate: 'reject',
      storage_quota: 1e9,
    }
    expect(await json(askAdmin('accounts/acme', 'PATCH', change))).toEqual({
      ...expected,
      name: 'New',
      time_zone: 'Europe/Berlin',
      policies: { unknown_customer: 'reject', unknown_affiliate: 'reject' },
      storage_quota: 1e9,
      takes_effect: 'now',
    })
    expect(
      await json(askAdmin('accounts/acme', 'PATCH', { time_zone: 'aMERICA/new_york' })),
    ).toMatchObject({
      time_zone: 'America/New_York',
    })
    await askAdmin('accounts', 'POST', { ...newAccount, account: 'b', vertical: 'igaming' })
    expect(await json(askAdmin('accounts/b'))).toMatchObject({
      policies: { unknown_customer: 'hold' },
    })
    const list = await json(askAdmin('accounts?per_page=1'))
    expect(list).toMatchObject({ data: [{ account: 'acme' }], meta: { total: 2 } })
    const next = await json(askAdmin(`accounts?cursor=${list.meta.next_cursor}`))
    expect(next).toMatchObject({ data: [{ account: 'b' }], meta: { next_cursor: null } })
  })

  test('a wrong member is refused with its pointer and error code', async () => {
    for (const [change, pointer, code] of [
      [{ account: 'Acme' }, '/account', 'pattern'],
      [{ account: 'a/b' }, '/account', 'pattern'],
      [{ account: 'x'.repeat(64) }, '/account', 'pattern'],
      [{ name: '' }, '/name', 'length'],
      [{ name: 'a\u001b[31mb' }, '/name', 'pattern'],
      [{ name: 'a\u202eb' }, '/name', 'pattern'],
      [{ name: undefined }, '/name', 'required'],
      [{ vertical: 'crypto' }, '/vertical', 'enum'],
      [{ mode: 'demo' }, '/mode', 'enum'],
      [{ time_zone: 'Mars/Olympus' }, '/time_zone', 'pattern'],
      [{ time_zone: '+02:00' }, '/time_zone', 'pattern'],
      [{ time_zone: 'Factory' }, '/time_zone', 'pattern'],
      [{ binding: 'ADMIN_KEY' }, '/binding', 'enum'],
      [{ binding: 'ASSETS' }, '/binding', 'enum'],
      [{ jurisdiction: 'mars' }, '/jurisdiction', 'enum'],
      [{ unknown_customer: 'ignore' }, '/unknown_customer', 'enum'],
      [{ storage_quota: '1' }, '/storage_quota', 'type'],
      [{ storage_quota: -1 }, '/storage_quota', 'minimum'],
      [{ storage_quota: 1.5 }, '/storage_quota', 'pattern'],
      [{ storage_quota: 10_000_000_001 }, '/storage_quota', 'pattern'],
      [{ storage_quota: 9e15 }, '/storage_quota', 'pattern'],
      [{ colour: 1 }, '/colour', 'unknown_field'],
    ] as const) {
      const response = await askAdmin('accounts', 'POST', { ...newAccount, ...change })
      expect([change, response.status]).toEqual([change, 422])
      expect(await errors(response)).toEqual([[pointer, code]])
    }
    expect(await json(askAdmin('accounts'))).toMatchObject({ data: [] })
    expect(await actions()).toEqual([])
  })

  test('an existing account cannot be created again, an unknown one gets 404', async () => {
    await askAdmin('accounts', 'POST', newAccount)
    const again = await askAdmin('accounts', 'POST', { ...newAccount, name: 'Other' })
    expect([again.status, await json(again)]).toMatchObject([409, { code: 'already_exists' }])
    expect(await json(askAdmin('accounts/acme'))).toMatchObject({ name: 'Acme' })
    for (const path of [
      '',
      '/clients',
      '/affiliates',
      '/links',
      '/deliveries',
      '/feed',
      '/status-map',
    ]) {
      expect((await askAdmin(`accounts/nobody${path}`)).status).toBe(404)
    }
    expect((await askAdmin('accounts/nobody', 'PATCH', { name: 'x' })).status).toBe(404)
  })

  test('a reset empties a test account and is refused for a live one', async () => {
    const acme = await partner('forex')
    await acme.post('customers', ada)
    await acme.post('transactions', deposit)
    await env.DB.exec("update accounts set mode = 'live'")
    const refused = await askAdmin(`accounts/${acme.account}/reset`, 'POST')
    expect([refused.status, await json(refused)]).toMatchObject([409, { code: 'conflict' }])
    expect((await json(acme.get('transactions'))).meta.total).toBe(1)

    await env.DB.exec("update accounts set mode = 'test'")
    expect((await askAdmin(`accounts/${acme.account}/reset`, 'POST')).status).toBe(204)
    for (const path of ['customers', 'transactions', 'deliveries']) {
      expect(await json(acme.get(path))).toMatchObject({ data: [], meta: { total: 0 } })
    }
    expect((await acme.post('customers', ada)).status).toBe(201)
    expect(await actions()).toEqual(['account.reset'])
  })
})

/** The tables with rows of an account that a reset keeps, beside those of the directory. */
const KEPT = [
  'affiliate_invitations',
  'affiliate_members',
  'affiliate_parents',
  'affiliate_passkeys',
  'affiliates',
  'agreements',
  'applications',
  'assignments',
  'audit_log',
  'changed',
  'erasures',
  'payees',
  'plan_versions',
]

test('a reset leaves of its account what the team configured, and of another account everything', async () => {
  const acme = await partner('forex', { account: 'acme' })
  const other = await brand({ account: 'other' })
  await askAdmin('accounts/acme/affiliates', 'PUT', [{ affiliate_id: 'aff-7' }])
  const page = { affiliate_id: 'aff-7', landing_page: 'https://a.example/' }
  const { link_id } = await json(askAdmin('accounts/acme/links', 'POST', page))
  const { below } = randomSource(1)
  for (const { account } of [acme, other])
    await fillTables(env.DB, () => below(2 ** 30) / 2 ** 30, account, 2)
  const filled = async (account: string) =>
    Object.entries(await bytesOf(env.DB, account)).flatMap(([name, rows]) =>
      rows.length > 0 ? [name] : [],
    )
  expect(await filled('acme')).toEqual((await anyTables(env.DB)).map(({ name }) => name))
  const before = await bytesOf(env.DB, 'other')

  expect((await askAdmin('accounts/acme/reset', 'POST')).status).toBe(204)
  expect((await filled('acme')).sort()).toEqual(KEPT)
  expect(await bytesOf(env.DB, 'other')).toEqual(before)
  expect((await json(askAdmin('accounts/acme'))).storage_bytes).toBe(0)
  expect((await askAdmin(`accounts/acme/links/${link_id}`)).status).toBe(200)
  expect((await acme.post('customers', { ...ada, customer_id: 'c-9' })).status).toBe(201)
})

describe('affiliates', () => {
  const at = 'accounts/acme/affiliates'
  const putTwo = async () => {
    await askAdmin('accounts', 'POST', newAccount)
    await askAdmin(at, 'PUT', [{ affiliate_id: 'a' }, { affiliate_id: 'b', parent: 'a' }])
  }

  test('the team cannot configure an affiliate with space around its id, or with a star', async () => {
    await putTwo()
    const errors = async (path: string, method: string, body: unknown) => {
      const found = (await json(askAdmin(`accounts/acme/${path}`, method, body))).errors
      return (found ?? []).map(({ pointer, code }: Record<string, string>) => [pointer, code])
    }
    const wrong = (pointer: string) => [pointer, 'pattern']
    for (const id of [' a', 'a ', '\u00a0a', 'a\t', '\ufeffa', '*']) {
      expect(await errors('affiliates', 'PUT', [{ affiliate_id: id }])).toEqual([
        wrong('/0/affiliate_id'),
      ])
      expect(await errors('affiliates', 'PUT', [{ affiliate_id: 'b', parent: id }])).toContainEqual(
        wrong('/0/parent'),
      )
      const link = { affiliate_id: id, landing_page: 'https://a.example/' }
      expect(await errors('links', 'POST', link)).toEqual([wrong('/affiliate_id')])
      const affiliations = [{ from: null, affiliate_id: id }]
      expect(
        await errors('customers/c/affiliations', 'PUT', { reason: 'x', affiliations }),
      ).toEqual(expect.anything())
      const assigned = { affiliate_id: id, plan: 'p', from: '2026-12-01', customers: 'new' }
      const refused = await errors('assignments', 'PUT', [assigned])
      if (id === '*') expect(refused).not.toContainEqual(wrong('/0/affiliate_id'))
      else expect(refused).toContainEqual(wrong('/0/affiliate_id'))
    }
  })

  test('affiliates are put in bulk, with optional parents, and listed', async () => {
    await putTwo()
    const put = await json(
      askAdmin(at, 'PUT', [
        { affiliate_id: 'c', parent: 'b' },
        { affiliate_id: 'a', parent: null },
      ]),
    )
    expect(put).toEqual({ received: 2, changed: 1 })
    expect((await json(askAdmin(at))).data).toMatchObject([
      { affiliate_id: 'a', parent: null },
      { affiliate_id: 'b', parent: 'a' },
      { affiliate_id: 'c', parent: 'b' },
    ])
  })

  test('a wrong body is refused with its pointer and error code', async () => {
    await putTwo()
    for (const [body, pointer, code] of [
      [[], '', 'record_count'],
      [Array.from({ length: 1001 }, (_, i) => ({ affiliate_id: `${i}` })), '', 'record_count'],
      [{ affiliate_id: 'x' }, '', 'type'],
      [['x'], '/0', 'type'],
      [[{ affiliate_id: 'x' }, { affiliate_id: '' }], '/1/affiliate_id', 'length'],
      [[{ affiliate_id: 'x' }, { affiliate_id: 'x' }], '/1', 'duplicate_key'],
      [[{ affiliate_id: 'x', parent: 'nobody' }], '/0/parent', 'unknown_affiliate'],
      [[{ affiliate_id: 'x', parent: 'x' }], '/0/parent', 'circle'],
      [[{ affiliate_id: 'a', parent: 'b' }], '/0/parent', 'circle'],
      [[{ affiliate_id: 'x', email: 'a@b.example' }], '/0/email', 'unknown_field'],
    ] as const) {
      const response = await askAdmin(at, 'PUT', body)
      expect([body, response.status]).toEqual([body, 422])
      expect(await errors(response)).toEqual([[pointer, code]])
    }
    expect((await json(askAdmin(at))).meta.total).toBe(2)
  })
})

describe('event definitions', () => {
  test('an event definition can be put, listed and deleted, and validates later events', async () => {
    const { account, get, post } = await brand()
    const at = `accounts/${account}/events`
    const put = await askAdmin(`${at}/DailyStats`, 'PUT', dailyStats)
    const definition = {
      eventname: 'DailyStats',
      ...dailyStats,
      currency: null,
      outflow: false,
      status_member: null,
    }
    expect([put.status, await json(put)]).toEqual([201, { ...definition, takes_effect: 'now' }])
    expect((await askAdmin(`${at}/DailyStats`, 'PUT', dailyStats)).status).toBe(200)
    expect(await json(askAdmin(at))).toEqual({ data: [definition] })
    expect((await json(get('account'))).events).toEqual([definition])
    const stats = { eventname: 'DailyStats', customerid: 'p-1', eventid: 'x', GGR: 'a' }
    expect((await post('activities', stats)).status).toBe(422)

    expect((await askAdmin(`${at}/DailyStats`, 'DELETE')).status).toBe(204)
    expect((await askAdmin(`${at}/DailyStats`, 'DELETE')).status).toBe(404)
    expect((await json(get('account'))).events).toEqual([])
    expect((await post('activities', { ...stats, NGR: 1 })).status).toBe(200)
  })

  test('an event name that is not valid UTF-8 is refused', async () => {
    const { account } = await brand()
    for (const name of ['%E4', '%', '%zz']) {
      const put = await askAdmin(`accounts/${account}/events/${name}`, 'PUT', dailyStats)
      expect([put.status, (await json(put)).code]).toEqual([400, 'invalid_query'])
    }
    expect(await json(askAdmin(`accounts/${account}/events`))).toEqual({ data: [] })
  })

  test('an event definition with special characters in its name is applied', async () => {
    const { account } = await brand()
    const name = 'Net/Gross & "Rev" %é'
    const at = `accounts/${account}/events/${encodeURIComponent(name)}`
    expect((await askAdmin(at, 'PUT', { granularity: 'day', kpis: ['__proto__'] })).status).toBe(
      201,
    )
    const text = `{"eventname":${JSON.stringify(name)},"customerid":"p","createtime":"2026-10-01","__proto__":"x"}`
    const { errors } = await json(askRaw(account, text))
    expect(errors).toMatchObject([{ pointer: '/__proto__', code: 'number' }])
  })

  const askRaw = async (account: string, body: string) => {
    const { brand_token } = await json(askAdmin(`accounts/${account}/brand-tokens`, 'POST', {}))
    const headers = { 'x-api-key': brand_token, 'Content-Type': 'application/json' }
    return ask('/tracking/events/activities', { method: 'POST', headers, body })
  }

  test('a wrong definition is refused with its pointer and error code', async () => {
    const { account } = await brand()
    for (const [change, pointer, code] of [
      [{ granularity: 'hour' }, '/granularity', 'enum'],
      [{ granularity: undefined }, '/granularity', 'required'],
      [{ eventid: 'maybe' }, '/eventid', 'enum'],
      [{ kpis: 'GGR' }, '/kpis', 'type'],
      [{ kpis: [1] }, '/kpis/0', 'type'],
      [{ kpis: ['GGR', 'Value'] }, '/kpis/1', 'pattern'],
      [{ kpis: ['customerid'] }, '/kpis/0', 'pattern'],
      [{ kpis: ['Product'] }, '/kpis/0', 'duplicate_key'],
      [{ kpis: Array.from({ length: 101 }, (_, i) => `k${i}`) }, '/kpis', 'length'],
      [{ product: 'Product' }, '/product', 'type'],
      [{ product: { field: 'Product' } }, '/product/map', 'required'],
      [{ product: { field: 'Currency', map: {} } }, '/product/field', 'pattern'],
      [{ product: { field: 'P', map: { 'a/b': 'slots' } } }, '/product/map/a~1b', 'enum'],
      [{ currency: 'EUX' }, '/currency', 'currency'],
      [{ eventname: 'Other' }, '/eventname', 'unknown_field'],
    ] as const) {
      const at = `accounts/${account}/events/DailyStats`
      const response = await askAdmin(at, 'PUT', { ...dailyStats, ...change })
      expect([change, response.status]).toEqual([change, 422])
      expect(await errors(response)).toEqual([[pointer, code]])
    }
  })

  test('only brands have event definitions, at most 200 each', async () => {
    const acme = await partner()
    const at = (account: string) => `accounts/${account}/events/X`
    expect((await askAdmin(at(acme.account), 'PUT', dailyStats)).status).toBe(409)
    const { account } = await brand()
    await env.DB.batch(
      Array.from({ length: 200 }, (_, i) =>
        env.DB.prepare(
          `insert into event_definitions values (?, ?, 'day', 'used', '[]', null, null, 0, null)`,
        ).bind(account, `e-${i}`),
      ),
    )
    expect((await askAdmin(at(account), 'PUT', dailyStats)).status).toBe(409)
  })

  test('the event definitions of one account are limited to 128 KiB', async () => {
    const { account, get } = await brand()
    const kpis = Array.from({ length: 100 }, (_, i) => `${i}${'🎰'.repeat(200)}`)
    const statuses: number[] = []
    for (let i = 0; i < 3; i++) {
      const put = askAdmin(`accounts/${account}/events/e-${i}`, 'PUT', { granularity: 'day', kpis })
      statuses.push((await put).status)
    }
    expect(statuses).toEqual([201, 409, 409])
    expect((await json(get('account'))).events).toHaveLength(1)
  })
})

describe('status maps', () => {
  test('status maps are replaced as a whole and can be read', async () => {
    await askAdmin('accounts', 'POST', newAccount)
    const map = { settled: 'approved', refunded: 'reversed' }
    expect(await json(askAdmin('accounts/acme/status-map', 'PUT', map))).toEqual({ status: map })
    const next = { settled: 'pending', __proto: 'declined' }
    await askAdmin('accounts/acme/status-map', 'PUT', next)
    expect(await json(askAdmin('accounts/acme/status-map'))).toEqual({ status: next })
    // Each PUT replaces one map of one account.
    await askAdmin('accounts', 'POST', { ...newAccount, account: 'other' })
    await askAdmin('accounts/other/status-map', 'PUT', map)
    expect(await json(askAdmin('accounts/acme/status-map'))).toEqual({ status: next })
  })

  test('a wrong map is refused with its pointer and error code', async () => {
    await askAdmin('accounts', 'POST', newAccount)
    for (const [map, pointer, code] of [
      [{ settled: 'ok' }, '/settled', 'enum'],
      [{ settled: 1 }, '/settled', 'type'],
      [{ '': 'approved' }, '/', 'length'],
      [[], '', 'type'],
      [
        Object.fromEntries(Array.from({ length: 501 }, (_, i) => [`w${i}`, 'approved'])),
        '',
        'length',
      ],
    ] as const) {
      const response = await askAdmin('accounts/acme/status-map', 'PUT', map)
      expect([response.status, await errors(response)]).toEqual([422, [[pointer, code]]])
    }
  })
})

test('by default records of unknown customers are held for brands, and rejected for partners', async () => {
  for (const [vertical, policy] of [
    ['forex', 'reject'],
    ['prop-trading', 'reject'],
    ['igaming', 'hold'],
  ]) {
    const { mode: _, ...account } = { ...newAccount, account: vertical, vertical }
    expect(await json(askAdmin('accounts', 'POST', account))).toMatchObject({
      mode: 'live',
      policies: { unknown_customer: policy, unknown_affiliate: 'warn' },
    })
  }
})

describe('the audit log', () => {
  test('the audit log has one entry per successful change, newest first', async () => {
    await askAdmin('accounts', 'POST', newAccount)
    await askAdmin('accounts', 'POST', newAccount)
    await askAdmin('accounts/acme', 'PATCH', { name: '' })
    await askAdmin('accounts/acme', 'PATCH', { disabled: true })
    await askAdmin('accounts/acme/affiliates', 'PUT', [{ affiliate_id: 'a' }])
    const issued = await json(askAdmin('accounts/acme/clients', 'POST'))
    await askAdmin(`accounts/acme/clients/${issued.client_id}/rotate`, 'POST', { overlap: '1h' })
    await askAdmin(`accounts/acme/clients/${issued.client_id}`, 'DELETE')
    const page = { affiliate_id: 'a', landing_page: 'https://a.example/' }
    const link = await json(askAdmin('accounts/acme/links', 'POST', page))
    await askAdmin(`accounts/acme/links/${link.link_id}`, 'PATCH', { disabled: true })
    await askAdmin('accounts/acme/status-map', 'PUT', { ok: 'approved' })
    const casino = await brand({ events: { DailyStats: dailyStats } })
    const { data: tokens } = await json(askAdmin(`accounts/${casino.account}/brand-tokens`))
    await askAdmin(`accounts/${casino.account}/brand-tokens/${tokens[0].id}`, 'DELETE')
    await askAdmin(`accounts/${casino.account}/events/DailyStats`, 'DELETE')

    expect(await actions()).toEqual([
      'event-definition.delete',
      'brand-token.revoke',
      'brand-token.regenerate',
      'event-definition.put',
      'account.create',
      'status.put',
      'link.change',
      'link.create',
      'client.revoke',
      'client.rotate',
      'client.issue',
      'affiliates.put',
      'account.change',
      'account.create',
    ])
    const { data } = await json(askAdmin('audit-log?account=acme'))
    const rotation = data.find(({ action }: { action: string }) => action === 'client.rotate')
    expect(rotation.details).toEqual({ client_id: issued.client_id, overlap: '1h' })
    expect(data.at(-2)).toEqual({
      id: expect.any(String),
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      actor: 'root-key',
      action: 'account.change',
      account: 'acme',
      name: null,
      url: 'https://api.example/console/accounts/acme/account',
      changes: [{ field: 'disabled', before: false, after: true }],
      details: {},
    })
    expect(JSON.stringify(data)).not.toContain(issued.client_secret)
    expect(data).toHaveLength(9)
    const { link_id, disabled: _, disabled_by: _by, url: __, ...created } = link
    const { client_id } = issued
    const entries = (await json(askAdmin('audit-log'))).data
    expect(entries.map(({ details }: { details: object }) => details)).toEqual([
      { eventname: 'DailyStats' },
      { id: tokens[0].id },
      { id: tokens[0].id, overlap: '24h' },
      { eventname: 'DailyStats' },
      { account: casino.account, name: `The ${casino.account}`, vertical: 'igaming', mode: 'test' },
      {},
      { link_id, affiliate_id: 'a' },
      { link_id, ...created },
      { client_id },
      { client_id, overlap: '1h' },
      { client_id },
      { affiliate_id: 'a', added: ['a'], before: [] },
      {},
      { account: 'acme', name: 'Acme', vertical: 'forex', mode: 'test' },
    ])
    expect(new Set(entries.map(({ actor }: { actor: string }) => actor))).toEqual(
      new Set(['root-key']),
    )
  })

  test('the entry of a bulk of affiliates names the first 20, their number and all that are new', async () => {
    await askAdmin('accounts', 'POST', newAccount)
    const ids = Array.from({ length: 21 }, (_, i) => `a-${i}`)
    const body = ids.map((affiliate_id) => ({ affiliate_id }))
    await askAdmin('accounts/acme/affiliates', 'PUT', body)
    const { data } = await json(askAdmin('audit-log?account=acme'))

    const first = ids.slice(0, 20)
    expect(data[0].details).toEqual({
      affiliates: 21,
      ids: first,
      added: ids,
      before: [],
    })
  })

  test('the database refuses to change or delete an audit log entry', async () => {
    await askAdmin('accounts', 'POST', newAccount)
    const before = await json(askAdmin('audit-log'))
    for (const text of ["update audit_log set actor = 'nobody'", 'delete from audit_log']) {
      await expect(env.DB.exec(text)).rejects.toThrow('append-only')
    }
    await env.DB.exec(
      "insert or replace into audit_log select id, at, 'x', action, account, details from audit_log",
    )
    expect(await json(askAdmin('audit-log'))).toEqual(before)
    expect(await actions()).toEqual(['account.create'])
  })

  test('one audit log covers all databases and is paged by cursor', async () => {
    await askAdmin('accounts', 'POST', { ...newAccount, binding: 'DB_2' })
    for (const affiliate_id of ['a', 'b', 'c']) {
      await askAdmin('accounts/acme/affiliates', 'PUT', [{ affiliate_id }])
      await askAdmin('accounts/acme', 'PATCH', { name: affiliate_id })
    }
    const all = await json(askAdmin('audit-log'))
    expect(all.meta.total).toBe(7)
    const ids = all.data.map(({ id }: { id: string }) => id)
    expect(ids).toEqual(ids.toSorted().toReversed())
    const read: string[] = []
    for (let query = '?per_page=2'; query; ) {
      const page = await json(askAdmin(`audit-log${query}`))
      read.push(...page.data.map(({ id }: { id: string }) => id))
      query = page.meta.next_cursor ? `?cursor=${page.meta.next_cursor}` : ''
    }
    expect(read).toEqual(ids)
    for (const size of [1, 3]) {
      for (let page = 1; page <= Math.ceil(7 / size); page++) {
        const { data } = await json(askAdmin(`audit-log?per_page=${size}&page=${page}`))
        const expected = ids.slice((page - 1) * size, page * size)
        expect(data.map(({ id }: { id: string }) => id)).toEqual(expected)
      }
    }
  })
})

describe('account data for the integrations team', () => {
  test('the team reads deliveries, totals, held records and feed as the account does', async () => {
    const casino = await brand()
    await casino.post('activities', [
      deposited,
      { ...deposited, eventid: 'h', customerid: 'nobody' },
    ])
    await casino.post('customers', eve)
    const acme = await partner()
    await acme.post('customers', [ada, {}])
    // The lag may grow between the two reads.
    const withoutLag = async (answer: Promise<Response>) =>
      (await (await answer).text()).replace(/"lag_seconds":\d+/g, '')
    for (const { account, get } of [casino, acme]) {
      const october = 'from=2026-10-01&to=2026-10-31'
      const reports = ['totals', 'reports'].map((path) => `${path}?${october}`)
      for (const path of ['deliveries', ...reports, 'held', 'feed']) {
        const expected = await withoutLag(get(path))
        expect(await withoutLag(askAdmin(`accounts/${account}/${path}`))).toBe(expected)
      }
    }
    const { data } = await json(acme.get('deliveries'))
    expect((await json(acme.get('account'))).attention).toEqual(
      (await json(askAdmin(`accounts/${acme.account}/attention`))).data,
    )
    const at = `deliveries/${data[0].delivery_id}`
    expect(await json(askAdmin(`accounts/${acme.account}/${at}`))).toEqual(await json(acme.get(at)))
    expect((await askAdmin(`accounts/${casino.account}/${at}`)).status).toBe(404)
  })
})
