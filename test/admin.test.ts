import { env } from 'cloudflare:workers'
import { generateKeyPair, SignJWT } from 'jose'
import { describe, expect, test, vi } from 'vitest'
import { putAffiliates, rejectCycles } from '../src/db/directory/affiliates.ts'
import { brand, dailyStats, deposited, eve } from './brand.ts'
import { askIn } from './heard.ts'
import { ada, ask, askAdmin, deposit, json, partner, traded } from './partner.ts'
import { ofTheTeam, teamKey } from './team.ts'

const errors = async (response: Response | Promise<Response>) => {
  const body = await json(response)
  return body.errors.map(({ pointer, code }: { pointer: string; code: string }) => [pointer, code])
}
const actions = async (query = '') =>
  (await json(askAdmin(`audit-log${query}`))).data.map(({ action }: { action: string }) => action)

const firm = { account: 'acme', name: 'Acme', vertical: 'forex', mode: 'test' }

test('of equal accounts created at the same moment one is created, the others are conflicts', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  try {
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => askAdmin('accounts', 'POST', firm)),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(11).fill(409)])
    expect(await actions()).toEqual(['account.create'])
  } finally {
    vi.useRealTimers()
  }
})

describe('who administers', () => {
  const as = (headers: Record<string, string>) => ask('/admin/v1/accounts', { headers })

  test('says the admin key, as it is and whole', async () => {
    const key = env.ADMIN_KEY
    expect((await as({ Authorization: `Bearer ${key}` })).status).toBe(200)
    for (const other of [
      key.slice(0, -1),
      `${key}x`,
      key.toUpperCase(),
      `${key.slice(0, -1)}${key.endsWith('x') ? 'y' : 'x'}`,
      `x${key.slice(1)}`,
      '',
      `${key} ${key}`,
    ]) {
      const response = await as({ Authorization: `Bearer ${other}` })
      expect(response.status).toBe(401)
      expect(response.headers.get('WWW-Authenticate')).toBe('Bearer realm="admin"')
      expect(await json(response)).toMatchObject({ code: 'invalid_admin' })
    }
    for (const headers of [{}, { Authorization: key }, { 'x-api-key': key }]) {
      expect((await as(headers as Record<string, string>)).status).toBe(401)
    }
    expect((await ask(`/admin/v1/accounts?key=${key}`)).status).toBe(401)
  })

  // The team's keys are served by the outbound service of vitest.config.ts.
  const TEAM = env.ACCESS_TEAM
  const signed = async (
    claims: object,
    own: { kid?: string; alg?: string } = {},
    key?: CryptoKey,
  ) => {
    const { privateKey } = key ? { privateKey: key } : await generateKeyPair('RS256')
    return new SignJWT({ email: 'ada@team.example', ...claims })
      .setProtectedHeader({ alg: 'RS256', kid: 'team', ...own })
      .setIssuedAt()
      .sign(privateKey)
  }
  const inAnHour = Math.floor(Date.now() / 1000) + 3600
  const good = { iss: TEAM, aud: [env.ACCESS_AUD], exp: inAnHour }

  test('or a JWT of Cloudflare Access, and is named by it in the audit log', async () => {
    const assertion = await signed(good, {}, await teamKey())
    const headers = { 'Cf-Access-Jwt-Assertion': assertion }
    expect((await as(headers)).status).toBe(200)
    await ask('/admin/v1/accounts', {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: JSON.stringify(firm),
    })
    const { data } = await json(askAdmin('audit-log'))
    expect(data).toMatchObject([{ actor: 'ada@team.example', action: 'account.create' }])
  })

  test.each([
    [{ common_name: 'deploy', sub: 'x' }, 'deploy'],
    [{ sub: 'somebody' }, 'somebody'],
  ])('a service token of Access, which has no address: %o', async (claims, actor) => {
    const assertion = await signed({ ...good, email: undefined, ...claims }, {}, await teamKey())
    await ask('/admin/v1/accounts', {
      method: 'POST',
      headers: { 'Cf-Access-Jwt-Assertion': assertion, 'Content-Type': 'application/json' },
      body: JSON.stringify(firm),
    })
    expect((await json(askAdmin('audit-log'))).data).toMatchObject([{ actor }])
  })

  test('no JWT that names nobody', async () => {
    const assertion = await signed({ ...good, email: undefined }, {}, await teamKey())

    expect((await as({ 'Cf-Access-Jwt-Assertion': assertion })).status).toBe(401)
  })

  test('nobody, where neither an admin key nor Access is set up', async () => {
    const assertion = await ofTheTeam()
    const at = async (own: Partial<Env>, headers: Record<string, string>) => {
      const request = new Request('https://api.example/admin/v1/accounts', { headers })
      return (await askIn({ ...env, ...own } as Env, request)).status
    }
    const none = { ADMIN_KEY: '' } as object
    expect(await at(none, { Authorization: 'Bearer undefined' })).toBe(503)
    for (const own of [{ ACCESS_TEAM: '' }, { ACCESS_AUD: '' }] as object[]) {
      expect(await at(own, { 'Cf-Access-Jwt-Assertion': assertion })).toBe(401)
    }
  })

  test('no JWT of another issuer, application, key or time, and none that is unsigned', async () => {
    const key = await teamKey()
    const none = `${btoa('{"alg":"none"}')}.${btoa(JSON.stringify(good))}.`.replaceAll('=', '')
    for (const assertion of [
      await signed({ ...good, iss: 'https://evil.example' }, {}, key),
      await signed({ ...good, aud: ['other'] }, {}, key),
      await signed({ ...good, exp: inAnHour - 7200 }, {}, key),
      await signed({ iss: TEAM, aud: [env.ACCESS_AUD] }, {}, key),
      await signed(good),
      await signed(good, { kid: 'nobody' }, key),
      none,
      'x.y.z',
    ]) {
      expect((await as({ 'Cf-Access-Jwt-Assertion': assertion })).status).toBe(401)
    }
  })
})

test('a page elsewhere cannot use the assertion that a browser adds by itself', async () => {
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
})

test('when the keys of the team cannot be fetched: 503, for nobody is known to be wrong', async () => {
  const jwt = ['{"alg":"RS256","kid":"team"}', '{"iss":"https://other.example"}', 'x'].map(btoa)
  const request = new Request('https://api.example/admin/v1/accounts', {
    headers: { 'Cf-Access-Jwt-Assertion': jwt.join('.').replaceAll('=', '') },
  })
  const other = { ...env, ACCESS_TEAM: 'https://other.example' }
  const response = await askIn(other, request)
  expect([response.status, response.headers.get('Retry-After')]).toEqual([503, '10'])
})

test('a word that means no text is refused, whatever it is', async () => {
  await askAdmin('accounts', 'POST', firm)
  for (const means of [{ toString: 1 }, { a: 1 }, [], null, 1, true]) {
    const response = await askAdmin(`accounts/${firm.account}/status-map`, 'PUT', { done: means })
    expect(response.status).toBe(422)
    const { errors } = await json(response)
    expect(errors).toEqual([expect.objectContaining({ pointer: '/done', code: 'enum' })])
  }
})

describe('accounts', () => {
  test('are created, listed, looked at and changed', async () => {
    const created = await askAdmin('accounts', 'POST', firm)
    expect(created.status).toBe(201)
    const shown = {
      ...firm,
      time_zone: 'UTC',
      binding: 'DB',
      policies: { unknown_customer: 'reject', unknown_affiliate: 'warn' },
      disabled: false,
      created_at: expect.any(String),
    }
    expect(await json(created)).toEqual(shown)
    expect(await json(askAdmin('accounts/acme'))).toEqual(shown)
    const change = { name: 'New', time_zone: 'Europe/Berlin', unknown_affiliate: 'reject' }
    expect(await json(askAdmin('accounts/acme', 'PATCH', change))).toEqual({
      ...shown,
      name: 'New',
      time_zone: 'Europe/Berlin',
      policies: { unknown_customer: 'reject', unknown_affiliate: 'reject' },
      takes_effect: 'now',
    })
    expect(
      await json(askAdmin('accounts/acme', 'PATCH', { time_zone: 'aMERICA/new_york' })),
    ).toMatchObject({
      time_zone: 'America/New_York',
    })
    await askAdmin('accounts', 'POST', { ...firm, account: 'b', vertical: 'igaming' })
    expect(await json(askAdmin('accounts/b'))).toMatchObject({
      policies: { unknown_customer: 'hold' },
    })
    const list = await json(askAdmin('accounts?per_page=1'))
    expect(list).toMatchObject({ data: [{ account: 'acme' }], meta: { total: 2 } })
    const next = await json(askAdmin(`accounts?cursor=${list.meta.next_cursor}`))
    expect(next).toMatchObject({ data: [{ account: 'b' }], meta: { next_cursor: null } })
  })

  test.each([
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
    [{ binding: 'ADMIN_KEY' }, '/binding', 'enum'],
    [{ binding: 'ASSETS' }, '/binding', 'enum'],
    [{ unknown_customer: 'ignore' }, '/unknown_customer', 'enum'],
    [{ colour: 1 }, '/colour', 'unknown_field'],
  ])('%j is refused at its place', async (own, pointer, code) => {
    const response = await askAdmin('accounts', 'POST', { ...firm, ...own })
    expect(response.status).toBe(422)
    expect(await errors(response)).toEqual([[pointer, code]])
    expect(await json(askAdmin('accounts'))).toMatchObject({ data: [] })
    expect(await actions()).toEqual([])
  })

  test('that exist are not created again, those that do not are 404', async () => {
    await askAdmin('accounts', 'POST', firm)
    const again = await askAdmin('accounts', 'POST', { ...firm, name: 'Other' })
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

  test('that two create at once are one: the other is told that it is there', async () => {
    const answers = await Promise.all(
      ['a', 'b', 'c', 'd'].map((name) => askAdmin('accounts', 'POST', { ...firm, name })),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409])
    const created = await json(answers.find(({ status }) => status === 201)!)
    expect(await json(askAdmin('accounts/acme'))).toEqual(created)
    expect(await actions()).toEqual(['account.create'])
  })

  test('a change of nothing, or a second revocation, leaves no line in the audit log', async () => {
    const { account } = await brand()
    const { data } = await json(askAdmin(`accounts/${account}/brand-tokens`))
    const before = await actions()
    expect((await askAdmin(`accounts/${account}`, 'PATCH', {})).status).toBe(200)
    expect(await actions()).toEqual(before)
    for (let i = 0; i < 2; i++) {
      const at = `accounts/${account}/brand-tokens/${data[0].id}`
      expect((await askAdmin(at, 'DELETE')).status).toBe(204)
    }
    expect(await actions()).toEqual(['brand-token.revoke', ...before])
  })

  test('what is not there is named', async () => {
    const { account } = await brand()
    for (const [path, detail] of [
      ['accounts/nobody', 'There is no account "nobody".'],
      [`accounts/${account}/links/x`, 'There is no link "x".'],
    ] as const) {
      expect(await json(askAdmin(path))).toMatchObject({ status: 404, detail })
    }
    expect((await askAdmin('audit-log?account=nobody')).status).toBe(400)
  })

  test('bodies that are no JSON objects are told so', async () => {
    expect((await askAdmin('accounts', 'POST', [])).status).toBe(422)
    expect(await errors(askAdmin('accounts', 'POST', null))).toEqual([['', 'type']])
    const send = (body: string, type = 'application/json') =>
      ask('/admin/v1/accounts', {
        method: 'POST',
        headers: { Authorization: `Bearer ${env.ADMIN_KEY}`, 'Content-Type': type },
        body,
      })
    expect((await send('{')).status).toBe(400)
    expect((await send('{}', 'text/plain')).status).toBe(415)
    expect((await askAdmin('accounts?dry_run=true', 'POST', firm)).status).toBe(400)
  })

  test('of mode test forget all that was sent; live ones never do', async () => {
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

test('a reset leaves only what the integrations team configured', async () => {
  const acme = await partner()
  const casino = await brand()
  for (const { account } of [acme, casino]) {
    const page = { affiliate_id: 'aff-7', landing_page: 'https://a.example/' }
    await askAdmin(`accounts/${account}/affiliates`, 'PUT', [{ affiliate_id: 'aff-7' }])
    await askAdmin(`accounts/${account}/links`, 'POST', page)
    await env.DB.prepare("insert into clicks values (?, '2026-10-01', 'abcdefgh', 'click', 0)")
      .bind(account)
      .run()
  }
  const key = { 'Idempotency-Key': 'k-1' }
  await acme.post('customers', ada, key)
  await acme.post('transactions', deposit, key)
  await acme.post('trading-activity', traded)
  await casino.post('customers', eve)
  await casino.post('activities', deposited, key)
  const { results: tables } = await env.DB.prepare(
    "select name from sqlite_schema where type = 'table' and sql like '% account %' order by name",
  ).all<{ name: string }>()
  const filled = async () => {
    const names: string[] = []
    for (const { name } of tables) {
      if (await env.DB.prepare(`select 1 from ${name}`).first()) names.push(name)
    }
    return names
  }
  const configured = ['affiliates', 'audit_log', 'brand_tokens', 'clients', 'links']
  const sent = ['activity', 'arrivals', 'clicks', 'customers', 'deliveries', 'events']
  sent.push('idempotency_keys', 'totals', 'transactions')
  expect(await filled()).toEqual([...configured, ...sent].sort())
  for (const { account } of [acme, casino]) {
    expect((await askAdmin(`accounts/${account}/reset`, 'POST')).status).toBe(204)
  }

  expect(await filled()).toEqual(configured)
  expect((await acme.post('customers', { ...ada, customer_id: 'c-9' }, key)).status).toBe(201)
})

describe('affiliates', () => {
  const at = 'accounts/acme/affiliates'
  const known = async () => {
    await askAdmin('accounts', 'POST', firm)
    await askAdmin(at, 'PUT', [{ affiliate_id: 'a' }, { affiliate_id: 'b', parent: 'a' }])
  }

  test('are put in bulk, each with a parent if it has one, and listed', async () => {
    await known()
    const put = await json(
      askAdmin(at, 'PUT', [
        { affiliate_id: 'c', parent: 'b' },
        { affiliate_id: 'a', parent: null },
      ]),
    )
    expect(put).toEqual({ received: 2, changed: 1 })
    expect((await json(askAdmin(at))).data).toEqual([
      { affiliate_id: 'a', parent: null },
      { affiliate_id: 'b', parent: 'a' },
      { affiliate_id: 'c', parent: 'b' },
    ])
  })

  test('whose parent is left out keep the one they have', async () => {
    await known()
    await askAdmin(at, 'PUT', [{ affiliate_id: 'b' }, { affiliate_id: 'c' }])
    expect((await json(askAdmin(at))).data).toEqual([
      { affiliate_id: 'a', parent: null },
      { affiliate_id: 'b', parent: 'a' },
      { affiliate_id: 'c', parent: null },
    ])
  })

  test('never make a circle, by two changes at once either', async () => {
    await known()
    await askAdmin(at, 'PUT', [{ affiliate_id: 'x' }, { affiliate_id: 'y' }])
    for (let i = 0; i < 10; i++) {
      const statuses = await Promise.all([
        askAdmin(at, 'PUT', [{ affiliate_id: 'x', parent: 'y' }]),
        askAdmin(at, 'PUT', [{ affiliate_id: 'y', parent: 'x' }]),
      ])
      expect(statuses.map(({ status }) => status)).toContain(200)
      expect([409, 422]).toContain(Math.max(...statuses.map(({ status }) => status)))
      const { data } = await json(askAdmin(at))
      const parents = Object.fromEntries(
        data.map((one: { affiliate_id: string; parent: string }) => [one.affiliate_id, one.parent]),
      )
      expect([parents.x, parents.y].filter((parent) => parent !== null)).toHaveLength(1)
      await askAdmin(
        at,
        'PUT',
        ['x', 'y'].map((affiliate_id) => ({ affiliate_id, parent: null })),
      )
    }
    await expect(
      env.DB.batch([
        ...putAffiliates(env.DB, 'acme', [{ affiliate_id: 'a', parent: 'b' }]),
        ...rejectCycles(env.DB, 'acme', [{ affiliate_id: 'a' }]),
      ]),
    ).rejects.toThrow('malformed JSON')
  })

  test('are checked against a circle elsewhere without following it for ever', async () => {
    await known()
    await env.DB.exec(
      "insert into affiliates (account, affiliate_id, parent) values ('acme', 'x', 'y'), ('acme', 'y', 'x')",
    )
    await env.DB.batch([
      ...putAffiliates(env.DB, 'acme', [{ affiliate_id: 'a', parent: 'x' }]),
      ...rejectCycles(env.DB, 'acme', [{ affiliate_id: 'a' }]),
    ])
    expect((await json(askAdmin(at))).data).toContainEqual({ affiliate_id: 'a', parent: 'x' })
  })

  test('that make a circle within one request are refused at their places', async () => {
    await known()
    const body = [
      { affiliate_id: 'x', parent: 'y' },
      { affiliate_id: 'y', parent: 'x' },
    ]
    expect(await errors(askAdmin(at, 'PUT', body))).toEqual([
      ['/0/parent', 'circle'],
      ['/1/parent', 'circle'],
    ])
  })

  test('without a valid id are neither duplicates nor checked for their parent', async () => {
    await known()
    const body = [
      { affiliate_id: '', parent: 'nobody' },
      { affiliate_id: 7, parent: 'nobody' },
      { parent: 'nobody' },
    ]
    expect(await errors(askAdmin(at, 'PUT', body))).toEqual([
      ['/0/affiliate_id', 'length'],
      ['/1/affiliate_id', 'type'],
      ['/2/affiliate_id', 'required'],
    ])
  })

  test('that are wrong are all told at once', async () => {
    await known()
    const body = [
      { affiliate_id: '' },
      { affiliate_id: 'x', parent: 'nobody' },
      { affiliate_id: 'x', parent: '' },
      7,
    ]
    expect(await errors(askAdmin(at, 'PUT', body))).toEqual([
      ['/0/affiliate_id', 'length'],
      ['/2/parent', 'length'],
      ['/2', 'duplicate_key'],
      ['/3', 'type'],
      ['/1/parent', 'unknown_affiliate'],
    ])
  })

  test.each([
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
  ])('%j is refused at its place', async (body, pointer, code) => {
    await known()
    const response = await askAdmin(at, 'PUT', body)
    expect(response.status).toBe(422)
    expect(await errors(response)).toEqual([[pointer, code]])
    expect((await json(askAdmin(at))).meta.total).toBe(2)
  })
})

describe('event definitions', () => {
  test('are put, listed, deleted, and judge what arrives later', async () => {
    const { account, get, post } = await brand()
    const at = `accounts/${account}/events`
    const put = await askAdmin(`${at}/DailyStats`, 'PUT', dailyStats)
    const definition = { eventname: 'DailyStats', ...dailyStats, currency: null }
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

  test('of a name that is no UTF-8 are not made under another one', async () => {
    const { account } = await brand()
    for (const name of ['%E4', '%', '%zz']) {
      const put = await askAdmin(`accounts/${account}/events/${name}`, 'PUT', dailyStats)
      expect([put.status, (await json(put)).code]).toEqual([400, 'invalid_query'])
    }
    expect(await json(askAdmin(`accounts/${account}/events`))).toEqual({ data: [] })
  })

  test('of an odd name are found under it', async () => {
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

  test.each([
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
  ])('%j is refused at its place', async (own, pointer, code) => {
    const { account } = await brand()
    const at = `accounts/${account}/events/DailyStats`
    const response = await askAdmin(at, 'PUT', { ...dailyStats, ...own })
    expect(response.status).toBe(422)
    expect(await errors(response)).toEqual([[pointer, code]])
  })

  test('are for brands, at most 200 of them', async () => {
    const acme = await partner()
    const at = (account: string) => `accounts/${account}/events/X`
    expect((await askAdmin(at(acme.account), 'PUT', dailyStats)).status).toBe(409)
    const { account } = await brand()
    await env.DB.batch(
      Array.from({ length: 200 }, (_, i) =>
        env.DB.prepare(
          `insert into event_definitions values (?, ?, 'day', 'used', '[]', null, null)`,
        ).bind(account, `e-${i}`),
      ),
    )
    expect((await askAdmin(at(account), 'PUT', dailyStats)).status).toBe(409)
  })

  test('have at most 128 KiB in all, so that every token can carry them', async () => {
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

describe("a partner's own words", () => {
  test('its statuses and labels are set as a whole, and read', async () => {
    await askAdmin('accounts', 'POST', firm)
    const map = { settled: 'approved', refunded: 'reversed' }
    expect(await json(askAdmin('accounts/acme/status-map', 'PUT', map))).toEqual({ status: map })
    const next = { settled: 'pending', __proto: 'declined' }
    await askAdmin('accounts/acme/status-map', 'PUT', next)
    expect(await json(askAdmin('accounts/acme/status-map'))).toEqual({ status: next })
    const labels = { '1': 'New', '2': 'Verified' }
    for (const field of ['kyc_status_id', 'sales_status_id']) {
      const at = `accounts/acme/labels/${field}`
      expect(await json(askAdmin(at, 'PUT', labels))).toEqual({ [field]: labels })
      expect(await json(askAdmin(at))).toEqual({ [field]: labels })
    }
  })

  test.each([
    [{ settled: 'ok' }, '/settled', 'enum'],
    [{ settled: 1 }, '/settled', 'enum'],
    [{ '': 'approved' }, '/', 'length'],
    [[], '', 'type'],
    [
      Object.fromEntries(Array.from({ length: 501 }, (_, i) => [`w${i}`, 'approved'])),
      '',
      'length',
    ],
  ])('%j is refused at its place', async (map, pointer, code) => {
    await askAdmin('accounts', 'POST', firm)
    const response = await askAdmin('accounts/acme/status-map', 'PUT', map)
    expect([response.status, await errors(response)]).toEqual([422, [[pointer, code]]])
  })
})

describe('the audit log', () => {
  test('has a line for each change, newest first, and none for what is refused or read', async () => {
    await askAdmin('accounts', 'POST', firm)
    await askAdmin('accounts', 'POST', firm)
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
      actor: 'admin-key',
      action: 'account.change',
      account: 'acme',
      details: { disabled: true },
    })
    expect(JSON.stringify(data)).not.toContain(issued.client_secret)
    expect(data).toHaveLength(9)
  })

  test('is append-only: the database itself refuses to change or delete a line', async () => {
    await askAdmin('accounts', 'POST', firm)
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

  test('is one, wherever the records of the accounts are, and is walked by cursor', async () => {
    await askAdmin('accounts', 'POST', { ...firm, binding: 'DB_2' })
    for (const affiliate_id of ['a', 'b', 'c']) {
      await askAdmin('accounts/acme/affiliates', 'PUT', [{ affiliate_id }])
      await askAdmin('accounts/acme', 'PATCH', { name: affiliate_id })
    }
    const all = await json(askAdmin('audit-log'))
    expect(all.meta.total).toBe(7)
    const ids = all.data.map(({ id }: { id: string }) => id)
    expect(ids).toEqual(ids.toSorted().toReversed())
    const walked: string[] = []
    for (let query = '?per_page=2'; query; ) {
      const page = await json(askAdmin(`audit-log${query}`))
      walked.push(...page.data.map(({ id }: { id: string }) => id))
      query = page.meta.next_cursor ? `?cursor=${page.meta.next_cursor}` : ''
    }
    expect(walked).toEqual(ids)
    for (const size of [1, 3]) {
      for (let page = 1; page <= Math.ceil(7 / size); page++) {
        const { data } = await json(askAdmin(`audit-log?per_page=${size}&page=${page}`))
        const expected = ids.slice((page - 1) * size, page * size)
        expect(data.map(({ id }: { id: string }) => id)).toEqual(expected)
      }
    }
  })
})

describe('what the integrations team may look into', () => {
  test('deliveries, totals, held and feed of any account, as it sees them itself', async () => {
    const casino = await brand()
    await casino.post('activities', [
      deposited,
      { ...deposited, eventid: 'h', customerid: 'nobody' },
    ])
    await casino.post('customers', eve)
    const acme = await partner()
    await acme.post('customers', [ada, {}])
    // Between the two a second may pass.
    const still = async (answer: Promise<Response>) =>
      (await (await answer).text()).replace(/"lag_seconds":\d+/g, '')
    for (const { account, get } of [casino, acme]) {
      for (const path of ['deliveries', 'totals?from=2026-10-01&to=2026-10-31', 'held', 'feed']) {
        const own = await still(get(path))
        expect(await still(askAdmin(`accounts/${account}/${path}`))).toBe(own)
      }
    }
    const { data } = await json(acme.get('deliveries'))
    const at = `deliveries/${data[0].delivery_id}`
    expect(await json(askAdmin(`accounts/${acme.account}/${at}`))).toEqual(await json(acme.get(at)))
    expect((await askAdmin(`accounts/${casino.account}/${at}`)).status).toBe(404)
  })
})
