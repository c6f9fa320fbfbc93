import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import revenueShare from '../../examples/plans/revenue-share.json'
import { app } from '../../src/app.ts'
import { MOVES, moveRows } from '../accounts/move-rows.ts'
import { QUESTION_ID, questionRows } from '../affiliates/question-rows.ts'
import { JOURNAL_ACCOUNTS } from '../books/book-rows.ts'
import { brand, dailyStats, day, eve } from '../brand.ts'
import { fetchWith } from '../checked-fetch.ts'
import { bookRows, RUN_ID, STATEMENT_ID, statementRows } from '../commission/statement-rows.ts'
import { EXPORT_ID, exportRows, storeExport } from '../exports/export-rows.ts'
import { CASE_ID, caseRows } from '../fraud/case-rows.ts'
import {
  ada,
  ask,
  askAdmin,
  askToken,
  deposit,
  json,
  ORIGIN,
  issuedPartner as partner,
  register,
  traded,
} from '../partner.ts'
import { ANSWER_HASH, EXPORTED_ID, MAIN, payoutRows } from '../payouts/payout-rows.ts'
import { printedAs } from '../secrecy.ts'

// Tests of every route. They iterate over `app.routes`, so that they include each new route.

const PUBLIC = [
  'GET /healthz',
  'GET /.well-known/oauth-authorization-server',
  'GET /.well-known/jwks.json',
  'POST /oauth/token',
  'POST /oauth/revoke',
  'GET /go/:link_id',
  'GET /',
  'GET /docs',
  'GET /docs/:page',
  'GET /docs/reference/:page',
  'GET /problems/:code',
  'GET /llms.txt',
  'GET /openapi.json',
  'GET /openapi/:file',
  'GET /schemas/v1/:file',
  'GET /schemas/v1/:vertical/:file',
  'GET /assets/:file',
]

/** Groups of guarded routes, and the 401 of a request without credentials. */
const callers = [
  {
    at: '/api/v1/',
    code: 'missing_credentials',
    challenge: 'Bearer realm="api"',
  },
  {
    at: '/tracking/events/',
    code: 'invalid_api_key',
    challenge: 'ApiKey realm="tracking", header="x-api-key"',
  },
  {
    at: '/affiliate/v1/',
    code: 'missing_credentials',
    challenge: 'Bearer realm="affiliate"',
  },
  {
    at: '/admin/v1/',
    code: 'invalid_admin',
    challenge: 'Bearer realm="admin"',
  },
]
const callerOf = (path: string) => callers.find(({ at }) => path.startsWith(at))

/** Creates an account of each vertical. Returns the credentials that a path requires. */
async function createCredentials() {
  const forex = await partner('forex')
  const prop = await partner('prop-trading')
  const { brand_token } = await brand()
  await askAdmin(`accounts/${forex.account}/affiliates`, 'PUT', [{ affiliate_id: 'IB-07' }])
  const { affiliate_key } = await json(
    askAdmin(`accounts/${forex.account}/affiliates/IB-07/keys`, 'POST', { name: 'Tracker' }),
  )
  return (path: string): Record<string, string> => {
    if (path.startsWith('/tracking/events/')) return { 'x-api-key': brand_token }
    if (path.startsWith('/admin/v1/')) return { Authorization: `Bearer ${env.ADMIN_KEY}` }
    if (path.startsWith('/affiliate/v1/')) return { Authorization: `Bearer ${affiliate_key}` }
    if (!path.startsWith('/api/v1/')) return {}
    const { access_token } = path.includes('prop') ? prop : forex
    return { Authorization: `Bearer ${access_token}` }
  }
}

// `app.routes` lists middleware with the method ALL.
const routes = app.routes
  .filter(({ method }) => method !== 'ALL')
  .map(({ method, path }) => ({ method, path, name: `${method} ${path}` }))
type Route = (typeof routes)[number]
/** Returns the third of a list that the day chooses. */
const drawn = <T>(list: readonly T[]) => list.filter((_, i) => i % 3 === env.DAY % 3)
const guarded = routes.filter(({ name }) => !PUBLIC.includes(name))

test('every route on the public list exists', () => {
  expect(routes.map(({ name }) => name)).toEqual(expect.arrayContaining(PUBLIC))
})

/** Sends a request to a route, without credentials. */
const sendTo = ({ method, path }: Route, init: RequestInit = {}, origin = ORIGIN) =>
  ask(new URL(path, origin).href, { method, ...init })

describe('every route', () => {
  test('responses have a request id, HSTS and no CORS headers, and guarded ones are 401 with a challenge', async () => {
    for (const route of routes) {
      const response = await sendTo(route, { headers: { Origin: 'https://other.example' } })
      const { headers } = response
      const named = (...values: unknown[]) => [route.name, ...values]

      expect(named(headers.get('X-Request-Id'))).toEqual(
        named(expect.stringMatching(/^[\da-f-]{36}$/)),
      )
      expect(
        named(headers.get('Strict-Transport-Security'), headers.get('X-Content-Type-Options')),
      ).toEqual(named('max-age=63072000; includeSubDomains', 'nosniff'))
      expect(named(...[...headers.keys()].filter((name) => /^access-control/i.test(name)))).toEqual(
        named(),
      )
      if (!guarded.includes(route)) continue
      const { code, challenge } = callerOf(route.path)!
      expect(
        named(
          response.status,
          headers.get('WWW-Authenticate'),
          headers.get('Content-Type'),
          await json(response),
        ),
      ).toMatchObject(named(401, challenge, 'application/problem+json', { code, status: 401 }))
    }
  })

  test('plain HTTP is refused with 403 and never redirected', async () => {
    for (const route of drawn(routes)) {
      const { name, path } = route
      const response = await sendTo(route, { redirect: 'manual' }, 'http://api.example')
      const { status, headers } = response

      expect([
        name,
        status,
        headers.has('Strict-Transport-Security'),
        headers.has('Location'),
      ]).toEqual([name, 403, true, false])
      if (path.startsWith('/go/')) {
        expect(await response.text()).toContain('https://')
        continue
      }
      const isOAuth = path.startsWith('/oauth/')
      expect([name, await json(response)]).toMatchObject([
        name,
        isOAuth
          ? { error: 'invalid_request' }
          : { code: 'https_required', detail: `Send the request to ${env.BASE_URL}.` },
      ])
    }
  })

  test('a 405 lists the allowed methods in Allow', async () => {
    const credentials = await createCredentials()
    for (const [path, methods] of drawn([...Map.groupBy(routes, ({ path }) => path)])) {
      const headers = credentials(path)
      const response = await ask(path, { method: 'OPTIONS', headers })

      expect([
        path,
        response.status,
        response.headers.has('Strict-Transport-Security'),
        response.headers.has('X-Request-Id'),
        response.headers.get('Allow')?.split(', '),
        response.headers.get('Content-Type'),
      ]).toEqual([
        path,
        405,
        true,
        true,
        expect.arrayContaining(methods.map(({ method }) => method)),
        expect.stringMatching(
          path.startsWith('/go/') ? /^text\/html/ : /^application\/(problem\+)?json$/,
        ),
      ])
    }
  })
})

test('every route that is not public requires credentials', () => {
  expect(guarded.filter(({ path }) => !callerOf(path))).toEqual([])
})

const NO_ENDPOINT = 'No endpoint has this path. GET /openapi.json lists all.'

test('a path without an endpoint is a 404 in the usual format', async () => {
  for (const [path, detail] of [
    ['/nowhere', NO_ENDPOINT],
    ['/docs/nowhere', 'No such document. See `/docs`.'],
    ['/api/v1/nowhere/customers', NO_ENDPOINT],
    ['/api/v2/forex/customers', NO_ENDPOINT],
  ] as const) {
    const response = await ask(path)
    expect(response.status).toBe(404)
    expect(response.headers.get('Content-Type')).toBe('application/problem+json')
    expect(await json(response)).toEqual({
      type: `${ORIGIN}/problems/not_found`,
      title: 'Not found',
      status: 404,
      code: 'not_found',
      detail,
      request_id: response.headers.get('X-Request-Id'),
    })
  }
})

const BROWSER = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

test('a browser gets a page for a path without an endpoint, but not for those of programs', async () => {
  const { status, headers } = await ask('/foo', { headers: BROWSER })
  expect([status, headers.get('Content-Type')]).toEqual([404, 'text/html; charset=utf-8'])
  for (const path of ['/api/v2/forex/customers', '/api', '/tracking/x', '/oauth/tokn']) {
    const response = await ask(path, { headers: BROWSER })
    expect([path, response.status]).toEqual([path, 404])
    expect(response.headers.get('Content-Type')).toMatch(/^application\/(problem\+)?json/)
  }
})

test('a path that resembles an endpoint is a 401 without credentials as usual', async () => {
  expect((await ask('/tracking/events/customer')).status).toBe(401)
  expect((await ask('/api/v1/forex/customer')).status).toBe(401)
})

test('a forged Host header never appears in documents or tokens', async () => {
  const { client_id, client_secret } = await register('forex')
  const headers = { Host: 'evil.example', 'X-Forwarded-Host': 'evil.example', Forwarded: 'host=e' }
  const grant = { grant_type: 'client_credentials', client_id, client_secret }
  const answers = [
    await askToken(grant, headers),
    await ask('/.well-known/oauth-authorization-server', { headers }),
    await ask('https://evil.example/nowhere', { headers }),
  ]
  for (const answer of answers) expect(await answer.text()).not.toContain('evil')
})

test('local development with an http BASE_URL is exempt from HTTPS and HSTS', async () => {
  const developmentEnv = { ...env, BASE_URL: 'http://127.0.0.1:8787' } as Env
  const response = await fetchWith(developmentEnv, new Request('http://127.0.0.1:8787/healthz'))
  expect(response.status).toBe(200)
  expect(response.headers.has('Strict-Transport-Security')).toBe(false)
})

describe('two accounts with the same ids', () => {
  const recordsOf = (name: string) => ({
    customers: { ...ada, first_name: `by-${name}` },
    transactions: { ...deposit, note: `to-${name}` },
    'trading-activity': { ...traded, instrument: name },
  })
  type Binding = 'DB' | 'DB_2'

  /** Stores what no request creates at once. */
  const storeRows = async (name: string, binding: Binding) => {
    const db = env[binding]
    await db.batch([
      ...statementRows(db, name, `of-${name}`),
      ...bookRows(db, name, `of-${name}`),
      ...caseRows(db, name, `of-${name}`, 'bursts'),
      ...questionRows(db, name, `of-${name}`, `of-${name}`),
      ...exportRows(db, name),
    ])
    await env.DB.batch(moveRows(env.DB, name))
    await storeExport(name)
  }

  const createPartner = async (name: string, binding: Binding) => {
    const acme = await partner('forex', { account: name, unknown_customer: 'hold', binding })
    for (const [resource, record] of Object.entries(recordsOf(name))) {
      expect((await acme.post(resource, record)).status).toBe(201)
    }
    const heldRecord = {
      ...deposit,
      transaction_id: `held-${name}`,
      customer_id: 'nobody',
      note: `to-${name}`,
    }
    const { delivery_id } = await json(acme.post('transactions', heldRecord))
    await storeRows(name, binding)
    return { ...acme, delivery_id, deliveries: 4 }
  }

  /** Creates a plan and a fraud rule that name the account, and an assignment. */
  const createPlan = async (name: string) => {
    await askAdmin(`accounts/${name}/fraud-rules/bursts`, 'PUT', {
      ...{ name: `of-${name}`, kind: 'signup_burst' },
      ...{ effective_from: '2026-12-01', severity: 'low' },
    })
    const plan = { ...revenueShare, name: `of-${name}` }
    await askAdmin(`accounts/${name}/plans/standard-ib`, 'PUT', plan)
    await askAdmin(`accounts/${name}/assignments`, 'PUT', [
      { affiliate_id: `of-${name}`, plan: 'standard-ib', from: '2026-12-01', customers: 'new' },
    ])
  }

  const createBrand = async (name: string, binding: Binding) => {
    const acme = await brand({ account: name, binding, events: { DailyStats: dailyStats } })
    await askAdmin(`accounts/${name}/affiliates`, 'PUT', [
      { affiliate_id: `of-${name}` },
      { affiliate_id: 'aff-7' },
    ])
    await createPlan(name)
    expect(
      (await acme.post('customers', { ...eve, customerId: 'c-1', firstName: `by-${name}` })).status,
    ).toBe(201)
    const affiliations = [{ from: null, affiliate_id: `of-${name}` }]
    const correction = { reason: `of-${name}`, affiliations }
    await askAdmin(`accounts/${name}/customers/c-1/affiliations`, 'PUT', correction)
    await askAdmin(`accounts/${name}/customers/c-1/refusal`, 'PUT', { reason: `of-${name}` })
    const activity = { ...day, customerid: 'c-1', note: `to-${name}` }
    expect((await acme.post('activities', activity)).status).toBe(201)
    const heldRecord = { ...activity, customerid: 'nobody' }
    const { delivery_id } = await json(acme.post('activities', heldRecord))
    await storeRows(name, binding)
    return { ...acme, delivery_id, deliveries: 3 }
  }

  // Lines and earnings are found by what only one of the accounts has: test/commission/why-routes.test.ts.
  const pathsAt = (at: string) =>
    guarded
      .filter(({ method, path }) => method === 'GET' && path.startsWith(at))
      .filter(({ path }) => !/\/lines\/|\/earnings$/.test(path))
      .map(({ path }) => path.replace(at, ''))
  const pathOf = (path: string, delivery: string) =>
    path
      .replace('customers/:id', 'customers/c-1')
      .replace('transactions/:id', 'transactions/t-1')
      .replace('customers/:customer_id', 'customers/c-1')
      .replace(':delivery_id', delivery)
      .replace(':plan', 'standard-ib')
      .replace(':rule', 'bursts')
      .replace(':statement_id', STATEMENT_ID)
      .replace(':run_id', RUN_ID)
      .replace(':move_id', MOVES.done)
      .replace(':case_id', CASE_ID)
      .replace(':export_id', EXPORT_ID)
      .replace(':question_id', QUESTION_ID)
      .replace(':payer', 'main')
      .replace(':affiliate_id', 'aff-7')
      .replace(/^records\/:resource$/, 'records/customers')
      .replace(/^records$/, 'records?id=c-1')
      .replace(/\/lines$/, '$&?period=2026-10')
      .replace(':version', '1')
      .replace(':batch', EXPORTED_ID)
      .replace(':number', 'SB-1-2026-0001')
      .replace(/^balances$/, 'balances?on=2026-10-01')
      .replace(/^journal$/, 'journal?from=2026-10-01&to=2026-10-31')
      .replace(/^transfers$/, `transfers?reference=${EXPORTED_ID}`)
      .replace(/^payouts\/answers\/:hash$/, `payouts/answers/${ANSWER_HASH}`)
      .replace(/^fx-rates$/, 'fx-rates?day=2026-10-01')
      .replace(/^(unearned(\/facts)?|qualifications)$/, '$1?period=2026-10')
      .replace(/^(totals|attribution|clicks|reports)$/, '$1?from=2026-10-01&to=2026-10-31')

  test.each([
    [
      'partners',
      createPartner,
      '/api/v1/forex/',
      ['customers', 'transactions', 'trading-activity'],
      14,
    ],
    ['brands', createBrand, '/tracking/events/', ['customers', 'activities'], 12],
  ] as const)(
    '%s of one or two databases never see data of each other on any route',
    async (_, create, at, lists, routes) => {
      const first = await create('first', 'DB')
      const second = await create('second', 'DB')
      const third = await create('third', 'DB_2')
      expect(pathsAt(at).length).toBeGreaterThanOrEqual(routes)
      for (const [caller, ...others] of [
        [first, second, third],
        [third, first, second],
      ] as const) {
        for (const path of caller === third ? drawn(pathsAt(at)) : pathsAt(at)) {
          const response = await caller.get(pathOf(path, caller.delivery_id))
          expect([path, response.status], 'a parameter that is required: see `pathOf`').toEqual([
            path,
            200,
          ])
          const text = await response.text()
          for (const other of others) {
            expect(text).not.toMatch(new RegExp(`"(of-|by-|to-)?${other.account}"`))
            expect(text).not.toContain(other.delivery_id)
          }
        }
        for (const path of lists) expect((await json(caller.get(path))).meta.total).toBe(1)
        expect((await json(caller.get('deliveries'))).meta.total).toBe(caller.deliveries)
        expect((await json(caller.get('held'))).meta.total).toBe(1)
      }
    },
  )

  test('administration routes of one account show no other account of one or two databases', async () => {
    const ownOf = async (name: string, binding: Binding) => {
      const { delivery_id } = await createBrand(name, binding)
      const link = { affiliate_id: `of-${name}`, landing_page: 'https://casino.example/', name }
      const { link_id } = await json(askAdmin(`accounts/${name}/links`, 'POST', link))
      await env[binding].batch(await payoutRows(env[binding], name))
      await askAdmin(`accounts/${name}/payers/main`, 'PUT', { ...MAIN, name: `of-${name}` })
      await askAdmin(`accounts/${name}`, 'PATCH', { journal_accounts: JOURNAL_ACCOUNTS })
      const hook = { url: `https://hooks.example/of-${name}` }
      const { id } = await json(askAdmin(`accounts/${name}/webhooks`, 'POST', hook))
      return { name, delivery_id, link_id: link_id as string, webhook_id: id as string }
    }
    const first = await ownOf('first', 'DB')
    const second = await ownOf('second', 'DB')
    const third = await ownOf('third', 'DB_2')
    const paths = pathsAt('/admin/v1/accounts/:account')
      .filter((path) => !path.startsWith('/clients') && path !== '')
      .map((path) => path.slice(1))
    expect(paths.length).toBeGreaterThanOrEqual(15)
    for (const [caller, ...others] of [
      [first, second, third],
      [third, first, second],
    ] as const) {
      for (const path of caller === third ? drawn(paths) : paths) {
        const requestPath = pathOf(path, caller.delivery_id)
          .replace(':link_id', caller.link_id)
          .replace(':webhook_id', caller.webhook_id)
        const response = await askAdmin(`accounts/${caller.name}/${requestPath}`)
        expect([path, response.status], 'a parameter that is required: see `pathOf`').toEqual([
          path,
          200,
        ])
        const text = await response.text()
        for (const { name, ...ids } of others) {
          expect(text).not.toMatch(new RegExp(`"(of-|by-|to-)?${name}"`))
          for (const id of Object.values(ids)) expect(text).not.toContain(id)
        }
      }
    }
  })

  test("another account's record gets the same 404 bytes as a missing one", async () => {
    const first = await createPartner('first', 'DB')
    const second = await partner('forex', { account: 'second' })
    const bytes = async (path: string) => {
      const response = await second.get(path)
      expect(response.status).toBe(404)
      const id = response.headers.get('X-Request-Id')!
      return (await response.text()).replace(id, 'id')
    }
    for (const [foreign, missing] of [
      ['customers/c-1', 'customers/nobody'],
      ['transactions/t-1', 'transactions/nobody'],
      [`deliveries/${first.delivery_id}`, 'deliveries/dlv_01KAFDZ7S0AAAAAAAAAAAAAAAA'],
      [`statements/${STATEMENT_ID}`, 'statements/stm_000000000000000000000002'],
    ] as const) {
      expect(await bytes(foreign)).toBe(await bytes(missing))
    }
  })
})

describe('the log', () => {
  test('the log has one line per request and nothing personal', async () => {
    const acme = await partner()
    const { delivery_id } = await json(
      acme.post('customers', { ...ada, customer_id: 'Augusta', email: 'ada@person.org' }),
    )
    await acme.get('customers/Augusta')
    await ask('/nowhere')

    const lines = printedAs('log')
    const entries = lines.map((line) => JSON.parse(line))
    expect(entries).toHaveLength(4)
    expect(entries[1]).toEqual({
      request_id: expect.any(String),
      account: 'acme-forex',
      method: 'POST',
      route: '/api/v1/forex/customers',
      status: 201,
      ms: expect.any(Number),
      delivery_id,
      outcomes: expect.objectContaining({ received: 1, created: 1 }),
    })
    expect(entries[2]).toMatchObject({ route: '/api/v1/forex/customers/:id', status: 200 })
    expect(entries[3]).toMatchObject({ status: 404 })
    const all = lines.join()
    expect(all).not.toContain('ada@person')
    expect(all).not.toContain(acme.client_secret)
    expect(all).not.toContain(acme.access_token)
    expect(all).not.toContain('Augusta')
  })
})
