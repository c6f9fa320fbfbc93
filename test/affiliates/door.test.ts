import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { callAs } from '../../src/affiliates/door.ts'
import { memberObjectName } from '../../src/affiliates/member-session.ts'
import { OWN_OPERATIONS } from '../../src/affiliates/operations.ts'
import { OPERATIONS } from '../../src/api/operations.ts'
import { viewOf } from '../../src/platform/auth/affiliate-view.ts'
import { grantOf } from '../../src/platform/auth/grant.ts'
import { type RateState, REQUESTS_PER_WINDOW } from '../../src/platform/auth/rate.ts'
import { isSafe } from '../../src/platform/auth/roles.ts'
import { findAccount } from '../../src/platform/directory/accounts.ts'
import { type AnyOperation, namesFor } from '../../src/platform/http/operation.ts'
import { isFor } from '../../src/platform/http/operation-words.ts'
import { ask, askAdmin, json, partner } from '../partner.ts'
import { affiliateWorld } from './affiliate-world.ts'

// Pages of the portal call operations through a door inside the Worker. It checks what that of requests checks.

const all = [...OPERATIONS, ...OWN_OPERATIONS]
const own = all.filter((one) => isFor(one, 'affiliate'))

/** Begins a session of an affiliate. Returns a function that calls operations in it, and its object. */
async function begin(id: string, affiliate_id: string, scope = 'read links') {
  const account = (await findAccount(env.DB, id))!
  const affiliate = { id: affiliate_id, member: 'eve', key: null, view: viewOf(account) }
  const session = {
    ...{ id: crypto.randomUUID(), account: account.id, until: Date.now() + 60_000 },
    ...{ affiliate_id, suspensions: 0, member: 'eve', credential_id: 'key' },
  }
  const gate = env.TOKEN_GATE.getByName(memberObjectName(session.id))
  await gate.open({ ...grantOf(account, null, scope), affiliate }, session.until)
  const page = { waitUntil: () => {}, once: <T>(_: string, make: () => Promise<T>) => make() }
  const call = (of: AnyOperation, input: object = {}) =>
    callAs(of, { env, ...page, session, language: 'en' }, input as never)
  return { call, gate }
}

const codeOf = (call: Promise<unknown>) => call.then(() => 'answered').catch(({ code }) => code)

const MONTH = { from: '2026-10-01', to: '2026-10-31', period: '2026-10' }

/** Returns a query with what an operation needs of a month. */
const monthOf = (of: AnyOperation) =>
  Object.fromEntries(
    Object.entries(MONTH).filter(([name]) => namesFor(of, 'affiliate').includes(name)),
  )

test('both doors answer the same, until the affiliate may only read, is suspended or hidden', async () => {
  const world = await affiliateWorld()
  await world.show({ amounts: false, countries: false })
  const { call } = await begin(world.account, 'own')
  const Authorization = `Bearer ${await world.makeKey('own', { scope: 'read links' })}`
  for (const of of own.filter(({ method, path }) => isSafe(method) && !/\}.*\{/.test(path))) {
    const query = monthOf(of)
    const path = of.path.replace('/accounts/{account}', '/affiliate/v1')
    const response = await ask(`${path}?${new URLSearchParams(query)}`, {
      headers: { Authorization },
    })
    expect([of.id, await call(of, query)]).toEqual([of.id, await json(response)])
  }
  const { call: read } = await begin(world.account, 'own', 'read')
  for (const of of own.filter(({ method }) => !isSafe(method)))
    expect([of.id, await codeOf(read(of))]).toEqual([of.id, 'insufficient_scope'])
  const affiliate = { affiliate_id: 'own', status: 'suspended' }
  await askAdmin(`${world.path}/affiliates`, 'PUT', [affiliate])
  for (const of of own)
    expect([of.id, await codeOf(call(of))]).toEqual([of.id, 'affiliate_suspended'])
  await askAdmin(world.path, 'PATCH', { disabled: true })
  for (const of of own)
    expect([of.id, await codeOf(call(of))]).toEqual([of.id, 'invalid_affiliate_key'])
})

test('what affiliates do not have, or is of another affiliate, is not there', async () => {
  const world = await affiliateWorld()
  const ids = { statement_id: world.statementOf('other').id }
  const { call: other } = await begin(world.account, 'other')
  const byId = new Map(own.map((of) => [of.id, of]))
  const { link_id } = (await other(byId.get('createOwnLink')!, {
    landing_page: 'https://acme.example/start',
  }).catch(() => ({ link_id: 'x' }))) as { link_id: string }
  const question = (await other(byId.get('askQuestion')!, {
    ...{ statement: ids.statement_id, text: 'Why?' },
  })) as { id: string }
  const postback = (await other(byId.get('createPostback')!, {
    ...{ url: 'https://tracker.example/', events: ['signup'] },
  })) as { id: string }
  const theirs = { ...ids, link_id, question_id: question.id, postback_id: postback.id }
  const { call } = await begin(world.account, 'own')
  for (const of of all.filter((one) => !own.includes(one)))
    expect([of.id, await codeOf(call(of))]).toEqual([of.id, 'not_found'])
  for (const of of own.filter(({ path }) => /\}.*\{(?!line)/.test(path))) {
    const body = { text: 'Why?', from: '2026-10-01T00:00:00Z' }
    const sent = Object.entries({ ...theirs, ...body }).filter(
      ([name]) => Object.hasOwn(of.params, name) || Object.hasOwn(of.body, name),
    )
    expect([of.id, await codeOf(call(of, Object.fromEntries(sent)))]).toEqual([of.id, 'not_found'])
  }
})

test('a call counts as a request of the session', async () => {
  const { account } = await partner('forex', { affiliates: ['own'] })
  const { call, gate } = await begin(account, 'own')
  const times = Array.from({ length: REQUESTS_PER_WINDOW - 1 }, () => Date.now())
  await runInDurableObject(gate, (_, { storage }) =>
    storage.kv.put('rate', { times, lease: 0, used: 0 } satisfies RateState),
  )
  const overview = own.find(({ id }) => id === 'getAffiliateOverview')!
  expect(await codeOf(call(overview, { from: 'x' }))).toBe('invalid_query')
  expect(await codeOf(call(overview, { from: 'x' }))).toBe('rate_limited')
})
