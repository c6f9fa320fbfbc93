import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import perLot from '../examples/plans/ib-per-lot.json'
import openapi from '../openapi.json'
import { MAX_OPEN_INVITATIONS } from '../src/admin/invitation-fields.ts'
import { app } from '../src/app.ts'
import { REQUESTS_PER_WINDOW } from '../src/auth/rate.ts'
import { digest } from '../src/auth/secret.ts'
import { affiliateKeyObjectName, brandTokenObjectName } from '../src/auth/token-gate.ts'
import { BOOK_LIMITS } from '../src/commission/books/limits.ts'
import { PLAN_LIMITS } from '../src/commission/plans/limits.ts'
import { MAX_LIVE_KEYS } from '../src/db/directory/affiliate-keys.ts'
import { MAX_MESSAGES } from '../src/db/directory/affiliate-questions.ts'
import { DECISION_LIMITS } from '../src/fraud/limits.ts'
import { RULE_LIMITS } from '../src/fraud/rules.ts'
import { ARCHIVED_MONTH, archiveRows } from './archive-rows.ts'
import { brand } from './brand.ts'
import { fetchWith } from './checked-fetch.ts'
import { putWhileOthersPut, TWO_DAYS } from './commission/rate-files.ts'
import { CURABLE, faulty } from './faulty.ts'
import { storeCases } from './fraud/stored-cases.ts'
import { MOVES, moveRows } from './move-rows.ts'
import { ada, ask, askAdmin, json, ORIGIN, issuedPartner as partner, register } from './partner.ts'
import { QUESTION_ID, questionRows } from './question-rows.ts'
import { ofTheTeam } from './team.ts'
import { overriding } from './watched.ts'

// Tests of every operation in openapi.json: each documented failure can be produced.

interface Described {
  method: string
  path: string
  /** The security scheme that it requires; undefined if it is public. */
  security: 'oauth' | 'brandToken' | 'affiliateKey' | 'adminKey' | undefined
  hasBody: boolean
  /** The error codes that it documents, by status. */
  codes: Record<string, string[]>
}

/** The first day of a plan that is not in force yet. */
const DAY = '9998-01-01'

/** A value within openapi.json. */
// biome-ignore lint/suspicious/noExplicitAny: members are read by name
type Json = any

const ref = (value: Json): Json =>
  value.$ref
    ? value.$ref
        .slice(2)
        .split('/')
        .reduce((found: Json, name: string) => found[name], openapi)
    : value

const codesOf = (response: Json): string[] =>
  Object.keys(ref(response).content?.['application/problem+json']?.examples ?? {})

const described: Described[] = Object.entries(openapi.paths).flatMap(([path, methods]) =>
  Object.entries(methods as Record<string, Json>).map(
    ([method, { security, responses, requestBody }]) => ({
      method: method.toUpperCase(),
      path,
      hasBody: requestBody !== undefined,
      security: Object.keys(security[0] ?? {})[0] as Described['security'],
      codes: Object.fromEntries(
        Object.entries(responses).map(([status, response]) => [status, codesOf(response)]),
      ),
    }),
  ),
)

/** The 422 of an operation without a body has its test in its own file: fresh.test.ts, runs.test.ts. */
const withBodies = (operations: readonly Described[]) => operations.filter(({ hasBody }) => hasBody)

const operationsWith = (status: number, code?: string) =>
  described.filter(
    ({ security, codes }) => security && codes[status] && (!code || codes[status]!.includes(code)),
  )

test('openapi.json describes exactly the routes of the service', () => {
  const withoutNames = (path: string) => path.replaceAll(/\{\w+\}|:\w+/g, '*')
  const routes = app.routes.filter(({ method }) => method !== 'ALL')
  expect(described.map(({ method, path }) => `${method} ${withoutNames(path)}`).toSorted()).toEqual(
    [...new Set(routes.map(({ method, path }) => `${method} ${withoutNames(path)}`))].toSorted(),
  )
})

/** Returns the path of an operation with its parameters filled in. */
const addressOf = ({ path, method }: Described, account = 'firm') =>
  path
    .replace('{account}', account)
    .replace(
      /(?<!statements\/)(totals|attribution|clicks|reports|delivery-errors)$/,
      '$1?from=2026-10-01&to=2026-10-31',
    )
    .replace(/\/customers\/(personal-data|affiliations|fields|refusal)$/, '$&?customer_id=nobody')
    .replace(/\/affiliates\/(ledger|balance)$/, '$&?affiliate_id=nobody')
    .replace(/\/affiliates\/keys(\/.*)?$/, '$&?affiliate_id=aff-7')
    .replace(/\/affiliates\/(invitations|members)(\/.*)?$/, '$&?affiliate_id=nobody')
    .replace('{affiliate_id}/keys', 'aff-7/keys')
    .replace(/accounts\/[^/]+\/records$|admin\/v1\/search$/, '$&?id=nobody')
    .replace(/\/affiliates$/, method === 'DELETE' ? '$&?affiliate_id=nobody' : '$&')
    .replace(/fx-rates$/, method === 'GET' ? 'fx-rates?day=2026-10-01' : 'fx-rates')
    .replace(/(unearned(\/facts)?|qualifications|\/lines)$/, '$&?period=2026-10')
    .replace(
      /trading-activity\/earnings$/,
      '$&?date=2026-10-02&customer_id=nobody&instrument=X&currency=EUR',
    )
    .replace(/transactions\/earnings$/, '$&?transaction_id=nobody')
    .replace(/activities\/earnings$/, '$&?id=nothing')
    .replace('{line_id}', `lin_${'0'.repeat(40)}`)
    .replace('{client_id}', 'client-of-firm')
    .replace('{link_id}', account === 'nowhere' ? 'nobody' : world.link_id)
    .replace('{webhook_id}', world.webhook_id)
    .replace('{postback_id}', account === 'nowhere' ? 'nobody' : world.postback_id)
    .replace('{affiliate_id}/postbacks', 'aff-7/postbacks')
    .replace('{move_id}', path.endsWith('/confirm') ? MOVES.cancelled : MOVES.done)
    .replace('{period}', '2026-10')
    .replace('{month}', ARCHIVED_MONTH)
    .replaceAll(/\{\w+\}/g, 'nobody')

const ASSIGNMENTS = PLAN_LIMITS.assignments
afterEach(() => {
  Object.assign(PLAN_LIMITS, { assignments: ASSIGNMENTS })
})

interface World {
  headers: (operation: Described) => Record<string, string>
  access_token: Record<string, string>
  brand_token: string
  affiliate_key: string
  link_id: string
  webhook_id: string
  postback_id: string
}
let world: World

beforeEach(async () => {
  const casino = await brand({ account: 'casino' })
  const firms = [await partner('forex', { account: 'firm' }), await partner('prop-trading')]
  const access_token = Object.fromEntries(firms.map((firm) => [firm.vertical, firm.access_token]))
  const landing = { affiliate_id: 'aff-7', landing_page: 'https://acme.example/' }
  const { link_id } = await json(askAdmin('accounts/firm/links', 'POST', landing))
  const webhook_id = (await json(createWebhook())).id
  const { affiliate_key } = await json(
    askAdmin('accounts/firm/affiliates/aff-7/keys', 'POST', {
      ...{ name: 'Tracker', scope: 'read links' },
    }),
  )
  const postback_id = (await json(createPostback(affiliate_key))).id
  await env.DB.batch(moveRows(env.DB, 'firm'))
  await env.DB.batch(archiveRows(env.DB, 'firm', 'activities'))
  world = {
    link_id,
    affiliate_key,
    postback_id,
    webhook_id,
    access_token,
    brand_token: casino.brand_token,
    headers: ({ security, path }): Record<string, string> => {
      if (security === 'brandToken') return { 'x-api-key': casino.brand_token }
      if (security === 'affiliateKey') return { Authorization: `Bearer ${affiliate_key}` }
      const vertical = path.includes('prop-trading') ? 'prop-trading' : 'forex'
      const token = security === 'oauth' ? access_token[vertical] : env.ADMIN_KEY
      return { Authorization: `Bearer ${token}` }
    },
  }
})

const send = (operation: Described, address: string, init: RequestInit = {}) =>
  ask(address, {
    ...init,
    method: operation.method,
    headers: { ...world.headers(operation), ...(init.headers as object) },
  })

/** Asserts the status and code of each operation, and lists all that differ. */
async function expectEach(
  operations: readonly Described[],
  status: number,
  code: string,
  request: (operation: Described) => Promise<Response>,
) {
  expect(operations.length).toBeGreaterThan(0)
  const mismatches: string[] = []
  for (const operation of operations) {
    const response = await request(operation)
    const text = await response.text()
    if (response.status !== status || !text.includes(`"${code}"`)) {
      mismatches.push(
        `${operation.method} ${operation.path}: ${response.status} ${text.slice(0, 200)}`,
      )
    }
  }
  expect(mismatches, 'parameters that are required: see `addressOf`').toEqual([])
}

const withBody = (body: BodyInit, headers = {}) => ({
  body,
  headers: { 'Content-Type': 'application/json', ...headers },
})

/** Returns a body in the format of the operation: exchange rates are CSV, everything else JSON. */
const withBodyOf = ({ path }: Described, body: BodyInit, headers = {}) =>
  withBody(body, { ...(path.endsWith('/fx-rates') && { 'Content-Type': 'text/csv' }), ...headers })

/** Bytes that are neither JSON nor UTF-8. */
const MALFORMED = new Uint8Array([0x7b, 0xff])

describe('each operation that documents the failure', () => {
  test('an unknown query parameter is 400 invalid_query', () =>
    expectEach(operationsWith(400, 'invalid_query'), 400, 'invalid_query', (operation) =>
      send(
        operation,
        `${addressOf(operation, accountFor(operation))}`.replace(/\?.*|$/, '?nosuch=1'),
      ),
    ))

  test('a body that is not JSON is 400 malformed_json', () =>
    expectEach(operationsWith(400, 'malformed_json'), 400, 'malformed_json', (operation) =>
      send(
        operation,
        addressOf(operation, accountFor(operation)),
        withBodyOf(operation, MALFORMED),
      ),
    ))

  test('a body that is not a record is 422 validation_failed', () =>
    expectEach(
      withBodies(operationsWith(422, 'validation_failed')),
      422,
      'validation_failed',
      (operation) =>
        send(operation, addressOf(operation, accountFor(operation)), withBodyOf(operation, '5')),
    ))

  test('a body too large once decompressed is 413 payload_too_large', async () => {
    const zeros = new Response(new Uint8Array(9 * 1024 * 1024)).body!
    const packed = await new Response(
      zeros.pipeThrough(new CompressionStream('gzip')),
    ).arrayBuffer()
    await expectEach(operationsWith(413), 413, 'payload_too_large', (operation) =>
      send(
        operation,
        addressOf(operation, accountFor(operation)),
        withBodyOf(operation, packed, { 'Content-Encoding': 'gzip' }),
      ),
    )
  })

  test('a body of another media type is 415 unsupported_media_type', async () => {
    // Administration checks the type only beside an Access assertion, which a browser may add.
    const assertion = await ofTheTeam()
    await expectEach(operationsWith(415), 415, 'unsupported_media_type', (operation) => {
      const init = { body: 'x', headers: { 'Content-Type': 'text/plain' } }
      if (operation.security !== 'adminKey') return send(operation, addressOf(operation), init)
      const headers = { ...init.headers, 'Cf-Access-Jwt-Assertion': assertion }
      return ask(addressOf(operation), { ...init, method: operation.method, headers })
    })
  })

  test('a resource that does not exist is 404 not_found', () =>
    expectEach(operationsWith(404), 404, 'not_found', (operation) =>
      send(
        operation,
        addressOf(operation, 'nowhere'),
        isOfAffiliates(operation) || operation.method === 'GET'
          ? bodyFor(operation)
          : withBody(VALID_BODIES[operation.path] ?? '{}'),
      ),
    ))

  test('a token that has used up its rate is 429 rate_limited', async () => {
    const { brand_token, access_token, affiliate_key } = world
    const names = Object.values(access_token).map(
      (token) => JSON.parse(atob(token.split('.')[1]!)).jti,
    )
    const keys = [
      brandTokenObjectName(await digest(brand_token)),
      affiliateKeyObjectName(await digest(affiliate_key)),
    ]
    for (const name of [...names, ...keys]) {
      await runInDurableObject(env.TOKEN_GATE.getByName(name), async (object) => {
        for (let i = 0; i < REQUESTS_PER_WINDOW; i++) object.admit(1)
      })
    }
    // The team has no rate: only a computation of totals can refuse it.
    const limited = operationsWith(429).filter(({ path }) => !path.startsWith('/admin/'))
    await expectEach(limited, 429, 'rate_limited', (operation) =>
      send(operation, addressOf(operation), bodyFor(operation)),
    )
  })

  test('a request to an overloaded database is 503 unavailable', () =>
    expectEach(operationsWith(503), 503, 'unavailable', (operation) => {
      const overloaded = async () => {
        throw new Error('D1_ERROR: D1 DB is overloaded. Requests queued for too long.')
      }
      const statement = (real: D1PreparedStatement): D1PreparedStatement =>
        overriding(real, {
          bind: (...values: unknown[]) => statement(real.bind(...values)),
          all: overloaded,
          first: overloaded,
          raw: overloaded,
          run: overloaded,
        } as never)
      const overrides = {
        prepare: (text: string) => statement(env.DB.prepare(text)),
        batch: overloaded,
      }
      const DB = overriding(env.DB, {
        ...overrides,
        withSession: () => overriding(env.DB.withSession(), overrides as never),
      } as never)
      return fetchWith({ ...env, DB } as Env, requestFor(operation))
    }))

  test('an unexpected failure of the service is 500 internal_error', () =>
    expectEach(operationsWith(500), 500, 'internal_error', (operation) =>
      fetchWith({ ...env, DB: {} } as never, requestFor(operation)),
    ))
})

/** Whether only brands have the resource: Brand Tokens and event definitions. */
const isOfBrands = ({ path }: Described) => /\/(brand-tokens|events)\b/.test(path)
const accountFor = (operation: Described) => (isOfBrands(operation) ? 'casino' : 'firm')

/** Valid bodies of the operations that require one. */
const VALID_BODIES: Record<string, string> = {
  '/admin/v1/accounts/{account}/affiliates/{affiliate_id}/keys': '{"name":"Tracker"}',
  '/admin/v1/accounts/{account}/affiliates/keys': '{"name":"Tracker"}',
  '/admin/v1/accounts': JSON.stringify({ account: 'new', name: 'New', vertical: 'forex' }),
  '/admin/v1/accounts/{account}/affiliates': JSON.stringify([{ affiliate_id: 'IB-07' }]),
  '/admin/v1/accounts/{account}/events/{eventname}': JSON.stringify({ granularity: 'day' }),
  '/admin/v1/fx-rates': TWO_DAYS,
  '/admin/v1/accounts/{account}/archives': '{"month":"2024-03"}',
  '/admin/v1/accounts/{account}/questions/{question_id}': '{"status":"closed"}',
  '/admin/v1/accounts/{account}/questions/{question_id}/answers': '{"text":"Because"}',
  '/admin/v1/accounts/{account}/links': JSON.stringify({
    affiliate_id: 'aff-7',
    landing_page: 'https://acme.example/',
  }),
}

const isOfAffiliates = ({ security }: Described) => security === 'affiliateKey'

function bodyFor(operation: Described): RequestInit {
  const { method, path, security } = operation
  if (method === 'GET') return {}
  if (security === 'adminKey') return withBodyOf(operation, VALID_BODIES[path] ?? '{}')
  return withBody(JSON.stringify({ ...EXAMPLES[path] }))
}

/** The example record of each resource in openapi.json. */
const EXAMPLES: Record<string, object> = Object.fromEntries(
  Object.entries(openapi.paths).flatMap(([path, methods]) => {
    const { examples } = (methods as Json).post?.requestBody?.content?.['application/json'] ?? {}
    return examples?.one ? [[path, examples.one.value]] : []
  }),
)

function requestFor(operation: Described): Request {
  const init = bodyFor(operation)
  return new Request(new URL(addressOf(operation, accountFor(operation)), ORIGIN), {
    ...init,
    method: operation.method,
    headers: { ...world.headers(operation), ...(init.headers as object) },
  })
}

/** Invites more persons than an affiliate may have open invitations. */
async function inviteMany(operation: Described) {
  await askAdmin('accounts/firm/affiliates', 'PUT', [{ affiliate_id: 'nobody' }])
  for (let i = 0; i < MAX_OPEN_INVITATIONS; i++) {
    await askAdmin('accounts/firm/affiliates/nobody/invitations', 'POST')
  }
  return fetchWith(env, requestFor(operation))
}

test('an operation that the account does not allow is 409 conflict', async () => {
  Object.assign(PLAN_LIMITS, { assignments: 1000 })
  const live = { account: 'live', name: 'Live', vertical: 'forex' }
  await askAdmin('accounts', 'POST', live)
  expect(await json(askAdmin('accounts', 'POST', live))).toMatchObject({ code: 'already_exists' })
  await expectEach(operationsWith(409, 'conflict'), 409, 'conflict', async (operation) => {
    if (operation.path.endsWith('/keys')) return addToFullKeys(operation)
    if (operation.method === 'DELETE' && operation.path.includes('/affiliates')) {
      return deleteNamedAffiliate(operation)
    }
    if (operation.path.endsWith('/invitations')) return inviteMany(operation)
    if (operation.path.endsWith('/affiliates')) return createCycle()
    if (operation.path.includes('/fraud-rules')) return changeFullRules(operation)
    if (/plans|assignments/.test(operation.path)) return sendToFullAccount(operation)
    if (operation.path.endsWith('/fx-rates')) return putWhileOthersPut()
    if (operation.path.includes('/postbacks')) return sendToFullPostback(operation)
    if (operation.method === 'PATCH') return changeZoneOfRecords()
    if (operation.path.endsWith('/manual-entries')) return addToFullAffiliate(operation)
    if (operation.path.includes('/webhooks')) return sendToFullWebhook(operation)
    if (operation.path.endsWith('/note')) return addToFullCase(operation)
    if (operation.path.includes('/moves')) return sendToMoving(operation)
    if (operation.path.includes('/questions/')) return addToFullQuestion(operation)
    const account = isOfBrands(operation) || operation.path.endsWith('/reset') ? 'live' : 'casino'
    return send(
      operation,
      addressOf(operation, account),
      operation.method === 'GET' ? {} : withBody(VALID_BODIES[operation.path] ?? '{}'),
    )
  })
})

/** Moves an account that moves to another database, or sends an operation to a move that has ended. */
async function sendToMoving(operation: Described): Promise<Response> {
  await env.DB.prepare(
    `insert into account_moves (account, id, source, target, status, actor, started_at, due_at)
     values ('firm', 'mov_active', 'DB', 'DB_3', 'copying', 'admin-key', '', 1) on conflict do nothing`,
  ).run()
  const body = operation.path.endsWith('/moves') ? '{"to":"DB_2"}' : '{}'
  return send(operation, addressOf(operation), withBody(body))
}

const createPostback = (key = world.affiliate_key) =>
  ask('/affiliate/v1/postbacks', {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ url: 'https://tracker.example/{sub1}', events: ['signup'] }),
  })

/** Creates a postback too many, or sends an operation to one that the firm has paused. */
async function sendToFullPostback(operation: Described): Promise<Response> {
  if (operation.path.endsWith('/postbacks')) {
    for (let i = 0; i < 4; i++) await createPostback()
    return createPostback()
  }
  const at = `accounts/firm/affiliates/aff-7/postbacks/${world.postback_id}`
  await askAdmin(at, 'PATCH', { disabled: true })
  const bodies: Record<string, object> = {
    PATCH: { disabled: false },
    POST: operation.path.endsWith('/test') ? {} : { from: '2026-10-01T00:00:00Z' },
  }
  const body = JSON.stringify(bodies[operation.method])
  return send(operation, addressOf(operation), withBody(body))
}

const createWebhook = () =>
  askAdmin('accounts/firm/webhooks', 'POST', { url: 'https://hooks.example/' })

/** Repeats an operation on a webhook until a limit refuses it, or sends it to one that is disabled. */
async function sendToFullWebhook({ method, path }: Described): Promise<Response> {
  const at = `accounts/firm/webhooks/${world.webhook_id}`
  if (path.endsWith('/webhooks')) {
    for (let i = 0; i < 9; i++) await createWebhook()
    return createWebhook()
  }
  const name = path.slice(path.lastIndexOf('/') + 1)
  if (name === 'rotate') {
    for (let i = 0; i < 4; i++) await askAdmin(`${at}/rotate`, method)
    return askAdmin(`${at}/rotate`, method)
  }
  await askAdmin(at, 'PATCH', { disabled: true })
  return askAdmin(`${at}/${name}`, method, name === 'test' ? {} : { from: '2026-10-01T00:00:00Z' })
}

/** Changes the book zone of an account that has a customer. */
async function changeZoneOfRecords(): Promise<Response> {
  const firm = await partner('forex', { account: 'booked' })
  await firm.post('customers', ada)
  return askAdmin('accounts/booked', 'PATCH', { book_zone: 'America/New_York' })
}

/** Enters an amount for an affiliate with as many entries as may wait for approval. */
async function addToFullAffiliate(operation: Described): Promise<Response> {
  const [account, plan] = ['firm', 'standard-ib']
  await askAdmin(`accounts/${account}/plans/${plan}`, 'PUT', { ...perLot, effective_from: DAY })
  const assigned = [{ affiliate_id: '*', plan, from: DAY, customers: 'new' }]
  await askAdmin(`accounts/${account}/assignments`, 'PUT', assigned)
  await env.DB.prepare(
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?)
     insert into manual_entries select ?, 'man_' || i, 'aff-7', ?, 'EUR', '1.00', 'x', 'r-' || i,
       'ada', 'now', null, 'r-' || i from n`,
  )
    .bind(BOOK_LIMITS.openEntries, account, plan)
    .run()
  const entry = { affiliate_id: 'aff-7', plan, amount: '1.00', reason: 'x', reference: 'new' }
  return send(operation, addressOf(operation), withBody(JSON.stringify(entry)))
}

/** Gives an account as many plan versions and assignments as it may have, unless it has them. */
async function fillPlansOnce(account: string, plan: string): Promise<void> {
  const assigned = await env.DB.prepare('select count(*) as n from assignments').first<number>('n')
  if (assigned! >= PLAN_LIMITS.assignments) return
  const rows = 'with recursive n(i) as (select 1 union all select i + 1 from n where i < ?)'
  await env.DB.batch([
    env.DB.prepare(
      `${rows} insert or ignore into plan_versions (account, plan, version, effective_from, terms, created_at)
       select ?, 'p' || i, 1, ?, '{"rules":[]}', ? from n`,
    ).bind(200, account, DAY, DAY),
    env.DB.prepare(
      `${rows} insert or ignore into assignments (account, affiliate_id, from_day, plan, customers)
       select ?, i, ?, ?, 'new' from n`,
    ).bind(PLAN_LIMITS.assignments, account, DAY, plan),
  ])
}

/** Sends a change of plans or assignments to an account that has as many as it may have. */
async function sendToFullAccount(operation: Described): Promise<Response> {
  const [plan, account] = ['standard-ib', 'firm']
  await askAdmin(`accounts/${account}/plans/${plan}`, 'PUT', { ...perLot, effective_from: DAY })
  const assigned = [{ affiliate_id: '*', plan, from: DAY, customers: 'new' }]
  await askAdmin(`accounts/${account}/assignments`, 'PUT', assigned)
  await fillPlansOnce(account, plan)
  const path = operation.path
    .replace('{account}', account)
    .replace('{plan}', operation.method === 'PUT' ? 'another' : plan)
    .replace('{version}', '1')
  const body = path.endsWith('/assignments') ? assigned : perLot
  if (operation.method === 'DELETE' && path.endsWith('/assignments')) {
    // Nobody may change who was paid by which plan in a closed period.
    await env.DB.prepare('insert or ignore into closed_periods values (?, ?, ?, 1)')
      .bind(account, plan, '9998-12')
      .run()
    return send(operation, `${path}?affiliate_id=5&from=${DAY}`, {})
  }
  return send(operation, path, operation.method === 'PUT' ? withBody(JSON.stringify(body)) : {})
}

/** Puts a fraud rule beside as many as an account may have, or withdraws a version that has begun. */
async function changeFullRules(operation: Described): Promise<Response> {
  const rows = 'with recursive n(i) as (select 1 union all select i + 1 from n where i < ?)'
  const sql = `${rows} insert or ignore into fraud_rule_versions (account, rule, version, effective_from, terms, created_at)
    select 'firm', 'r' || i, 1, '2020-01-01', '{"scope":{"affiliates":["*"]}}', 'now' from n`
  await env.DB.prepare(sql).bind(RULE_LIMITS.rules).run()
  const path = operation.path
    .replace('{account}', 'firm')
    .replace('{rule}', operation.method === 'PUT' ? 'another' : 'r1')
    .replace('{version}', '1')
  const body = { name: 'R', kind: 'lot_churn', effective_from: DAY, severity: 'low' }
  return send(operation, path, operation.method === 'PUT' ? withBody(JSON.stringify(body)) : {})
}

/** Adds a note to a case that has as many as it may have. */
async function addToFullCase(operation: Described): Promise<Response> {
  await storeCases({ id: 'case_1', account: 'firm' })
  await env.DB.prepare(
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?)
     insert into fraud_notes select 'firm', 'case_1', i, 'A note', 'admin-key', '' from n`,
  )
    .bind(DECISION_LIMITS.notes)
    .run()
  const path = operation.path.replace('{account}', 'firm').replace('{case_id}', 'case_1')
  return send(operation, path, withBody('{"text":"One more"}'))
}

/** Writes about a question that has as many messages as it may have. */
async function addToFullQuestion(operation: Described): Promise<Response> {
  await env.DB.batch([
    env.DB.prepare('delete from affiliate_question_messages'),
    env.DB.prepare('delete from affiliate_questions'),
    ...questionRows(env.DB, 'firm', 'aff-7', 'Why?'),
    env.DB.prepare(
      `with recursive n(i) as (select 2 union all select i + 1 from n where i < ?)
       insert into affiliate_question_messages
       select 'firm', '${QUESTION_ID}', i, i, 'team', 'admin-key', '', 'An answer' from n`,
    ).bind(MAX_MESSAGES),
  ])
  const path = operation.path.replace('{account}', 'firm').replace('{question_id}', QUESTION_ID)
  return send(operation, path, withBody('{"text":"One more"}'))
}

/** Makes a key for an affiliate who has as many as they may have. */
async function addToFullKeys(operation: Described): Promise<Response> {
  const make = () =>
    send(operation, addressOf(operation), withBody(VALID_BODIES[operation.path] ?? ''))
  for (let i = 0; i < MAX_LIVE_KEYS; i++) await make()
  return make()
}

/** Deletes the affiliate whom a link names. */
async function deleteNamedAffiliate(operation: Described): Promise<Response> {
  await askAdmin('accounts/firm/affiliates', 'PUT', [{ affiliate_id: 'aff-7' }])
  const path = operation.path.replace('{account}', 'firm').replace('{affiliate_id}', 'aff-7')
  return send(operation, path.endsWith('aff-7') ? path : `${path}?affiliate_id=aff-7`, {})
}

/** Sends two concurrent changes, each valid alone, that together form a cycle of parents. */
async function createCycle(): Promise<Response> {
  await askAdmin('accounts/firm/affiliates', 'PUT', [{ affiliate_id: 'a' }, { affiliate_id: 'b' }])
  let isFirst = true
  const DB = overriding(env.DB, {
    batch: async (list: D1PreparedStatement[]) => {
      if (isFirst) {
        isFirst = false
        await askAdmin('accounts/firm/affiliates', 'PUT', [{ affiliate_id: 'a', parent: 'b' }])
      }
      return env.DB.batch(list)
    },
  } as never)
  return fetchWith(
    { ...env, DB } as Env,
    new Request(`${ORIGIN}/admin/v1/accounts/firm/affiliates`, {
      method: 'PUT',
      headers: { Authorization: `Bearer ${env.ADMIN_KEY}`, 'Content-Type': 'application/json' },
      body: JSON.stringify([{ affiliate_id: 'b', parent: 'a' }]),
    }),
  )
}

describe('operations without authentication', () => {
  const revoke = (form: Record<string, string>) => ({
    method: 'POST',
    body: new URLSearchParams({ token: 'x', client_id: 'client-of-firm', ...form }),
  })

  test('revocation limits wrong secrets and the size of the form', async () => {
    const wrong = revoke({ client_secret: 'wrong' })
    const statuses: number[] = []
    for (let i = 0; i < 21; i++) statuses.push((await ask('/oauth/revoke', wrong)).status)
    expect([statuses[0], statuses.at(-1)]).toEqual([401, 429])
    const long = revoke({ client_secret: 'x'.repeat(70_000) })
    expect((await ask('/oauth/revoke', long)).status).toBe(413)
  })

  test('a failure that a retry can cure is 503, any other 500', async () => {
    const { client_secret } = await register('forex', { account: 'other' })
    const form = revoke({ client_id: 'client-of-other', client_secret })
    const request = () => new Request(`${ORIGIN}/oauth/revoke`, form)
    const lostRequests = Array(3).fill({ message: CURABLE[0], after: false })
    expect((await fetchWith(faulty(lostRequests).env, request())).status).toBe(503)
    expect((await fetchWith({ ...env, DB: undefined } as never, request())).status).toBe(500)
    const link = new Request(`${ORIGIN}/go/${world.link_id}`)
    expect((await fetchWith({ ...env, DB: undefined } as never, link)).status).toBe(500)
    const keys = new Request(`${ORIGIN}/.well-known/jwks.json`)
    expect((await fetchWith({ ...env, SIGNING_KEYS: '?' }, keys)).status).toBe(503)
  })
})
