import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { OPERATIONS } from '../../src/api/operations.ts'
import { app } from '../../src/app.ts'
import type { Role } from '../../src/platform/auth/roles.ts'
import { at } from '../days.ts'
import { askAs, keyOfRole, memberKey } from '../members.ts'
import { ask, askAdmin, json } from '../partner.ts'
import { assertionOf } from '../team.ts'

// What the roles of the team may do. The tests walk the routes, so that they include each new route.

const sendAs = async (role: Role, method: string, path: string, body?: unknown) =>
  askAs(await keyOfRole(role), path.replace('/admin/v1/', ''), method, body)

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
const changes = routes.filter(
  ({ method, name }) => method !== 'GET' && !SIMULATIONS.includes(name) && !name.includes(' /me/'),
)
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
  expect(data[0]).toMatchObject({ actor: 'the-approver@team.example', action: 'account.change' })
})

test.each([
  ['how many people must approve', 'approvals', 2, 1],
  ['for how long bank details are held', 'payee_hold_hours', 48, 1],
])('§16 two approvers lower %s', async (_, name, high, low) => {
  const set = async (who: 'ada' | 'ben', value: number) => {
    const key = await memberKey({ name: who, role: 'approver' })
    return (await askAs(key, 'accounts/acme', 'PATCH', { [name]: value })).status
  }
  const account = { account: 'acme', name: 'Acme', vertical: 'forex', mode: 'test', [name]: high }
  await askAdmin('accounts', 'POST', account)
  expect([await set('ada', low), await set('ada', low)]).toEqual([409, 409])
  expect(await json(askAdmin('accounts/acme'))).toMatchObject({ [name]: high })
  const { data } = await json(askAdmin('audit-log'))
  expect(data[0]).toMatchObject({ actor: 'ada@team.example', action: `account.${name}.lower` })
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
  expect(data).toContainEqual(expect.objectContaining({ action, actor: 'root-key' }))
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

describe('Cloudflare Access', () => {
  const detailFor = async (claims: object) => {
    const headers = {
      ...{ 'Cf-Access-Jwt-Assertion': await assertionOf(claims) },
      'Content-Type': 'application/json',
    }
    const path = '/admin/v1/accounts/nobody/statements/x/approve'
    const response = await ask(path, { method: 'POST', headers, body: '{}' })
    return response.status === 403 ? (await json(response)).detail : response.status
  }
  const UNKNOWN = 'Cloudflare Access admits you, but you are not a member of the team.'

  test('the e-mail address of the assertion finds the member, letter case aside', async () => {
    await memberKey({ name: 'ada', role: 'viewer' })
    const refused = 'Only an approver can do this: approve statement. Your role is viewer.'
    for (const email of ['ada@team.example', 'ADA@Team.Example']) {
      expect(await detailFor({ email })).toBe(refused)
    }
    await env.DB.exec("update members set role = 'approver'")
    expect(await detailFor({})).toBe(404)
    await env.DB.exec("update members set removed_at = 'now'")
    expect(await detailFor({})).toBe(`${UNKNOWN} You can be invited by whoever has the root key.`)
  })

  test('whom it admits who is no member is told who can invite them', async () => {
    await memberKey({ name: 'ada', role: 'approver' })
    await memberKey({ name: 'vi', role: 'viewer' })
    // The Cyrillic а looks like the Latin one.
    for (const email of ['eve@team.example', 'аda@team.example', '', undefined]) {
      const claims = { email, common_name: 'ada@team.example', sub: 'ada@team.example' }
      expect(await detailFor(claims)).toBe(`${UNKNOWN} You can be invited by ada@team.example.`)
    }
  })
})
