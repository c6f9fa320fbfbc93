import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { callAs } from '../../src/affiliates/door.ts'
import { memberObjectName } from '../../src/affiliates/member-session.ts'
import { OPERATIONS } from '../../src/api/operations.ts'
import { OWN_OPERATIONS } from '../../src/api/own-operations.ts'
import { viewOf } from '../../src/platform/auth/affiliate-view.ts'
import { grantOf } from '../../src/platform/auth/grant.ts'
import { type RateState, REQUESTS_PER_WINDOW } from '../../src/platform/auth/rate.ts'
import { isSafe } from '../../src/platform/auth/roles.ts'
import { findAccount } from '../../src/platform/directory/accounts.ts'
import { type AnyOperation, namesFor } from '../../src/platform/http/operation.ts'
import { isFor } from '../../src/platform/http/operation-words.ts'
import { ask, askAdmin, askWith, json, partner } from '../partner.ts'
import { affiliateWorld, type Who } from './affiliate-world.ts'

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

/** What an affiliate has beside the lines of statements, each with an id that nobody has. */
const NOBODYS = {
  statement_id: 'stm_000000000000000000000000',
  link_id: 'abcdefgh',
  question_id: 'qst_none',
  postback_id: 'pbk_none',
}

/** Makes what an affiliate may have. Returns its ids. */
async function idsOf(firm: Awaited<ReturnType<typeof affiliateWorld>>, who: Who) {
  const statement_id = firm.statementOf(who).id
  const key = await firm.makeKey(who, { scope: 'read links' })
  const make = (path: string, body: object) =>
    json(askWith(key, `/affiliate/v1/${path}`, 'POST', body))
  const question = await make('questions', { statement: statement_id, text: 'Why?' })
  const url = 'https://tracker.example/'
  const postback = await make('postbacks', { url, events: ['signup'] })
  const [{ link_id }] = (await json(askWith(key, '/affiliate/v1/links'))).data
  return { statement_id, link_id, question_id: question.id, postback_id: postback.id }
}

test('what affiliates do not have is not there, and what is of another one is what does not exist, to the byte', async () => {
  const world = await affiliateWorld()
  const foreign = await affiliateWorld('other-firm')
  const { call } = await begin(world.account, 'own')
  for (const of of all.filter((one) => !own.includes(one)))
    expect([of.id, await codeOf(call(of))]).toEqual([of.id, 'not_found'])
  const key = await world.makeKey('own', { scope: 'read links' })
  const strangers = [
    ...(['top', 'below', 'other'] as const).map((who) => [world, who] as const),
    [foreign, 'other'] as const,
  ]
  for (const [firm, who] of strangers) {
    const theirs: typeof NOBODYS = await idsOf(firm, who)
    for (const of of own.filter(({ path }) => /\}.*\{(?!line)/.test(path))) {
      const body = { text: 'Why?', from: '2026-10-01T00:00:00Z', disabled: true }
      const sent = Object.entries(body).filter(([name]) => Object.hasOwn(of.body, name))
      const refusalOf = async (ids: typeof NOBODYS) => {
        const named = Object.entries(ids).filter(([name]) => Object.hasOwn(of.params, name))
        const code = await codeOf(call(of, Object.fromEntries([...named, ...sent])))
        const path = of.path.replace('/accounts/{account}', '/affiliate/v1')
        const at = named.reduce((to, [name, id]) => to.replace(`{${name}}`, id), path)
        const read = isSafe(of.method) ? undefined : Object.fromEntries(sent)
        const response = await askWith(key, at, of.method, read)
        const text = (await response.text()).replace(/"request_id":"[^"]+"/, '')
        return [
          of.id,
          code,
          response.status,
          named.reduce((to, [, id]) => to.replace(id, ''), text),
        ]
      }
      const missing = await refusalOf(NOBODYS)
      expect(missing).toEqual([of.id, 'not_found', 404, expect.any(String)])
      expect(await refusalOf(theirs)).toEqual(missing)
    }
    const { data } = await json(askAdmin(`${firm.path}/links?affiliate_id=${who}`))
    expect(data).toMatchObject([{ link_id: theirs.link_id, disabled: false }])
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
