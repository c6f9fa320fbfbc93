import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { OPERATIONS } from '../../src/api/operations.ts'
import { app } from '../../src/app.ts'
import { fetchWith } from '../checked-fetch.ts'
import { at } from '../days.ts'
import { askAdmin, json, ORIGIN } from '../partner.ts'
import { ofTheTeam } from '../team.ts'

// What the roles of the team may do. The tests walk the routes, so that they include each new route.

const KEYS = { viewer: 'v'.repeat(32), manager: 'm'.repeat(32), approver: 'a'.repeat(32) }
type Role = keyof typeof KEYS
const named = Object.entries(KEYS).map(([role, key]) => [`the ${role}`, { key, role }])
const WORLD = { ...env, ADMIN_KEYS: JSON.stringify(Object.fromEntries(named)) } as Env

const send = (world: Env, key: string, method: string, path: string, body?: unknown) =>
  fetchWith(
    world,
    new Request(new URL(path, ORIGIN), {
      method,
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }),
    createExecutionContext(),
  )
const sendAs = (role: Role, method: string, path: string, body?: unknown) =>
  send(WORLD, KEYS[role], method, path, body)

/** The roles that operations declare, by method and path. */
const ROLES = new Map<string, Role>(
  OPERATIONS.map(({ method, path, role = 'approver' }) => [
    `${method} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
    role as Role,
  ]),
)

/** What moves money or opens a door, which a manager must not do. */
const OF_APPROVERS = [
  'POST /accounts/:account/statements/:statement_id/approve',
  'POST /accounts/:account/batches/:batch/confirm',
  'POST /accounts/:account/batches/:batch/pay',
  'POST /accounts/:account/affiliates/:affiliate_id/keys',
]

const SIMULATIONS = [
  'POST /accounts/:account/plans/:plan/simulate',
  'POST /accounts/:account/fraud-rules/:rule/simulate',
]

const routes = app.routes
  .filter(({ method, path }) => method !== 'ALL' && path.startsWith('/admin/v1/'))
  .map(({ method, path }) => ({ method, path, name: `${method} ${path.slice(9)}` }))
const changes = routes.filter(({ method, name }) => method !== 'GET' && !SIMULATIONS.includes(name))
const reads = routes.filter(
  ({ method, name }) => (method === 'GET' && !name.endsWith('/file')) || SIMULATIONS.includes(name),
)

const refusal = (needed: Role, role: Role) => ({
  status: 403,
  code: 'insufficient_role',
  detail: expect.stringMatching(
    `^Only ${needed === 'manager' ? 'a manager or an approver' : 'an approver'} can do this: [a-z].+\\. Your role is ${role}\\.$`,
  ),
})

test.each(OF_APPROVERS)('%s needs an approver', (name) => {
  expect(ROLES.get(name)).toBe('approver')
})

test.each(changes)('a viewer cannot $name', async ({ method, path, name }) => {
  const needed = ROLES.get(name) ?? 'approver'
  expect(await json(sendAs('viewer', method, path))).toMatchObject(refusal(needed, 'viewer'))
})

const approvals = changes.filter(({ name }) => ROLES.get(name) !== 'manager')

test.each(approvals)('a manager cannot $name, an approver can', async ({ method, path }) => {
  const refused = refusal('approver', 'manager')
  expect(await json(sendAs('manager', method, path))).toMatchObject(refused)
  expect((await sendAs('approver', method, path)).status).not.toBe(403)
})

test.each(changes.filter(({ name }) => ROLES.get(name) === 'manager'))(
  'a manager can $name',
  async ({ method, path }) => {
    expect((await sendAs('manager', method, path)).status).not.toBe(403)
  },
)

test.each(reads)('a viewer can $name', async ({ method, path }) => {
  expect((await sendAs('viewer', method, path)).status).not.toBe(403)
})

test.each([
  '/admin/v1/accounts/acme/statements/s/%61pprove',
  '/admin/v1/accounts/acme/statements/s%2Ft/approve',
  '/admin/v1/accounts/acme/x/../batches/B/confirm',
  '/admin/v1//accounts/acme/batches/B/confirm',
  '/admin/v1/accounts/acme/batches/B/confirm/',
  '/admin/v1/accounts/acme/batches/B/confirm%2F',
  '/admin/v1/accounts/acme/batches/B/Confirm',
])('a manager approves and pays nothing by %s', async (path) => {
  expect([403, 404]).toContain((await sendAs('manager', 'POST', path, {})).status)
})

test('only an approver changes how many people must approve', async () => {
  await askAdmin('accounts', 'POST', {
    ...{ account: 'acme', name: 'Acme', vertical: 'forex', mode: 'test' },
  })
  const change = (role: Role) =>
    sendAs(role, 'PATCH', '/admin/v1/accounts/acme', { name: 'New', approvals: 2 })

  const twoPersons = { account: 'two', name: 'Two', vertical: 'forex', mode: 'test', approvals: 2 }
  expect(await json(sendAs('manager', 'POST', '/admin/v1/accounts', twoPersons))).toMatchObject(
    refusal('approver', 'manager'),
  )
  expect(await json(change('manager'))).toMatchObject(refusal('approver', 'manager'))
  for (const other of [{ payee_hold_hours: 99 }, { retain_years: 1 }]) {
    expect((await sendAs('manager', 'PATCH', '/admin/v1/accounts/acme', other)).status).toBe(403)
  }
  expect(await json(askAdmin('accounts/acme'))).toMatchObject({ name: 'Acme', approvals: 1 })
  expect(await json(change('approver'))).toMatchObject({ name: 'New', approvals: 2 })
  const { data } = await json(askAdmin('audit-log'))
  expect(data[0]).toMatchObject({ actor: 'the approver', action: 'account.change' })
})

test.each([
  ['how many people must approve', 'approvals', 2, 1],
  ['for how long bank details are held', 'payee_hold_hours', 48, 1],
])('§16 two approvers lower %s', async (_, name, high, low) => {
  const keys = { ada: 'd'.repeat(32), ben: 'e'.repeat(32) }
  const named = Object.entries(keys).map(([name, key]) => [name, { key, role: 'approver' }])
  const world = { ...env, ADMIN_KEYS: JSON.stringify(Object.fromEntries(named)) } as Env
  const set = async (who: keyof typeof keys, value: number) => {
    const path = '/admin/v1/accounts/acme'
    return (await send(world, keys[who], 'PATCH', path, { [name]: value })).status
  }
  const account = { account: 'acme', name: 'Acme', vertical: 'forex', mode: 'test', [name]: high }
  await askAdmin('accounts', 'POST', account)
  expect([await set('ada', low), await set('ada', low)]).toEqual([409, 409])
  expect(await json(askAdmin('accounts/acme'))).toMatchObject({ [name]: high })
  const { data } = await json(askAdmin('audit-log'))
  expect(data[0]).toMatchObject({ actor: 'ada', action: `account.${name}.lower` })
  expect(await set('ben', low)).toBe(200)
  // What was asked for before is done: once it is high again, two must ask anew.
  expect([await set('ben', high), await set('ben', low), await set('ada', low)]).toEqual([
    ...[200, 409, 200],
  ])
})

test('§20 law 9: that one person could pay is told to everybody for a week, also of a new live account', async () => {
  const now = Date.now()
  const told = async (account: string) => {
    const { data } = await json(askAdmin(`accounts/${account}/attention`))
    const item = data.find(({ code }: { code: string }) => code === 'lowered_settings')
    return item?.names.sort().join(' ') ?? ''
  }
  const create = async (account: string, more: object = {}) => {
    await askAdmin('accounts', 'POST', { account, name: 'A', vertical: 'forex', ...more })
    return told(account)
  }
  expect(await create('usual')).toBe('approvals')
  expect(await create('fast', { payee_hold_hours: 71 })).toBe('approvals payee_hold_hours')
  expect(await create('trial', { mode: 'test', payee_hold_hours: 0 })).toBe('')
  expect(await create('safe', { approvals: 2 })).toBe('')
  const { data } = await json(askAdmin('audit-log?account=fast'))
  const [action, details] = ['account.payee_hold_hours.lower', { payee_hold_hours: 71 }]
  expect(data).toContainEqual(expect.objectContaining({ action, actor: 'admin-key' }))
  expect(data).toContainEqual(
    expect.objectContaining({ action, details: expect.objectContaining(details) }),
  )
  const lower = await sendAs('approver', 'PATCH', '/admin/v1/accounts/safe', { approvals: 1 })
  expect(lower.status).toBe(409)
  expect(await told('safe')).toBe('approvals')
  at(new Date(now + 7 * 86_400_000 + 60_000).toISOString())
  expect([await told('fast'), await told('safe')]).toEqual(['', ''])
})

test('whoever asks for another lower hold has not asked for this one', async () => {
  const account = { account: 'acme', name: 'Acme', vertical: 'forex', mode: 'test' }
  await askAdmin('accounts', 'POST', account)
  const set = (payee_hold_hours: number) => ({ payee_hold_hours })
  expect((await askAdmin('accounts/acme', 'PATCH', set(48))).status).toBe(409)
  const lower = await sendAs('approver', 'PATCH', '/admin/v1/accounts/acme', set(0))
  expect(lower.status).toBe(409)
})

describe('ADMIN_KEYS', () => {
  const statusWith = async (keys: string, key: string) => {
    const world = { ...env, ADMIN_KEYS: keys } as Env
    return (await send(world, key, 'GET', '/admin/v1/accounts')).status
  }
  const key = 'n'.repeat(32)
  const hexOf = async (text: string) =>
    new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))).toHex()

  test('a key under two names is refused, also if one of them has its SHA-256', async () => {
    const ben = { key_sha256: await hexOf(key), role: 'approver' }
    const keys = JSON.stringify({ ada: { key, role: 'approver' }, ben })
    expect(await statusWith(keys, key)).toBe(503)
  })

  test('a name that is an e-mail address is an actor without letter case', async () => {
    const keys = JSON.stringify({ 'Ada@Team.example': { key, role: 'approver' } })
    const world = { ...env, ADMIN_KEYS: keys } as Env
    const account = { account: 'ada', name: 'Ada', vertical: 'forex', mode: 'test' }
    expect((await send(world, key, 'POST', '/admin/v1/accounts', account)).status).toBe(201)
    const { data } = await json(askAdmin('audit-log'))
    expect(data[0]).toMatchObject({ actor: 'ada@team.example' })
  })

  test('a key may be given by its SHA-256', async () => {
    const keys = JSON.stringify({ ada: { key_sha256: await hexOf(key), role: 'viewer' } })
    expect(await statusWith(keys, key)).toBe(200)
    expect(await statusWith(keys, `${key}n`)).toBe(401)
    expect(await statusWith(keys, await hexOf(key))).toBe(401)
  })

  test.each([
    'x',
    '{"ada":{"key":"short","role":"viewer"}}',
    `{"ada":{"key":"${key}"}}`,
    `{"ada":{"key":"${key}","role":"owner"}}`,
    `{"ada":{"key":"${key}","key_sha256":"${'0'.repeat(64)}","role":"viewer"}}`,
    '{"ada":{"key_sha256":"00","role":"viewer"}}',
    '{"ada":{"role":"viewer"}}',
    '{"ada":null}',
    `{"admin-key":{"key":"${key}","role":"viewer"}}`,
    `{"":{"key":"${key}","role":"viewer"}}`,
    `{"ada ":{"key":"${key}","role":"viewer"}}`,
    `[{"key":"${key}","role":"viewer"}]`,
    `{"ada":{"key":"${key}","role":"approver"},"ben":{"key":"${key}","role":"approver"}}`,
    `{"ada":{"key":"${key}","role":"viewer"},"Ada":{"key":"${key}2","role":"viewer"}}`,
    `{"ada":{"key":"${key}","role":"viewer"},"ben":{"key":"${env.ADMIN_KEY}","role":"viewer"}}`,
  ])('%s is unusable: named keys get 503, ADMIN_KEY works', async (keys) => {
    expect(await statusWith(keys, key)).toBe(503)
    expect(await statusWith(keys, env.ADMIN_KEY)).toBe(200)
  })
})

describe('ACCESS_ROLES', () => {
  const roleWith = async (roles: unknown, claims: object) => {
    const headers = { 'Cf-Access-Jwt-Assertion': await ofTheTeam(claims) }
    const ACCESS_ROLES = typeof roles === 'string' ? roles : JSON.stringify(roles)
    const world = { ...env, ACCESS_ROLES } as unknown as Env
    const path = '/admin/v1/accounts/nobody/statements/x/approve'
    const init = { method: 'POST', headers: { ...headers, 'Content-Type': 'application/json' } }
    const response = await fetchWith(world, new Request(new URL(path, ORIGIN), init))
    if (response.status !== 403) return response.status
    return (await json(response)).detail as string
  }
  const isA = (role: string) =>
    `Only an approver can do this: approve statement. Your role is ${role}.`

  test.each([
    ['', {}, 404],
    [{ 'Ada@Team.example': 'viewer' }, {}, isA('viewer')],
    [{ finance: 'approver', 'ada@team.example': 'viewer' }, { groups: ['finance'] }, 404],
    [{ finance: 'manager' }, { groups: 'Finance' }, isA('manager')],
    [{ finance: 'manager' }, { custom: { groups: ['other', 'finance'] } }, isA('manager')],
    [{ deploy: 'manager' }, { email: undefined, common_name: 'deploy' }, isA('manager')],
    [
      { other: 'approver' },
      { groups: [1, null] },
      'Cloudflare Access admits you, but ACCESS_ROLES gives you no role.',
    ],
    [{}, {}, 'Cloudflare Access admits you, but ACCESS_ROLES gives you no role.'],
    ['{', {}, 503],
    ['7', {}, 503],
    [{ finance: 'owner' }, {}, 503],
  ])('%j with the claims %j', async (roles, claims, expected) => {
    expect(await roleWith(roles, claims)).toBe(expected)
  })
})
