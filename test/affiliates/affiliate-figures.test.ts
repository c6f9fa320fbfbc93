import { env } from 'cloudflare:workers'
import { beforeEach, expect, test } from 'vitest'
import perLot from '../../examples/plans/ib-per-lot.json'
import type { PlanTerms } from '../../src/commission/plans/types.ts'
import { bookRows, statementRows } from '../commission/statement-rows.ts'
import { assign, storePlan } from '../commission/stored.ts'
import { askAdmin, json, issuedPartner as partner } from '../partner.ts'

// `GET …/affiliates/figures`: what a list of affiliates shows of each.

const IDS = ['AFF-1', 'ib-2', 'IB-3', 'IB-4']
const MONTH = new Date().toISOString().slice(0, 7)

type Row = { affiliate_id: string } & Record<string, unknown>
const list = async (query = ''): Promise<Row[]> =>
  (await json(askAdmin(`accounts/acme/affiliates/figures${query}`))).data
const idsOf = async (query: string) => (await list(query)).map(({ affiliate_id }) => affiliate_id)

beforeEach(async () => {
  await partner('forex', { account: 'acme', affiliates: IDS })
  await storePlan('acme', 'standard-ib', perLot as PlanTerms)
})

/** Stores a statement of this month with a total in a currency. */
const earn = (affiliate: string, total: string, currency = 'EUR') =>
  env.DB.batch([
    ...statementRows(env.DB, 'acme', affiliate).slice(0, 1),
    env.DB.prepare(
      `update statements set id = ?1 || ?2, period = ?4,
         statement = json_set(statement, '$.earned', ?2, '$.currency', ?3)
       where affiliate_id = ?1 and period = '2026-10'`,
    ).bind(affiliate, total, currency, MONTH),
  ])

test('an affiliate has its plan, balance and earnings', async () => {
  await assign('acme', 'standard-ib', 'IB-3', '2026-02-01')
  await assign('acme', 'standard-ib', 'IB-3', '2999-01-01')
  await env.DB.batch(bookRows(env.DB, 'acme', 'IB-3'))
  await earn('IB-3', '1234.50')
  expect(await list('?search=IB-3')).toEqual([
    {
      affiliate_id: 'IB-3',
      display_name: null,
      contact_email: null,
      status: 'active',
      parent: null,
      plan: { plan: 'standard-ib', from: '2026-02-01', for_all: false },
      next_plan: { plan: 'standard-ib', from: '2999-01-01', for_all: false },
      balances: [{ currency: 'EUR', balance: '1.00', due: '1.00' }],
      earned: [{ period: MONTH, currency: 'EUR', total: '1234.50' }],
    },
  ])
})

test('the plan for all applies until the first own assignment', async () => {
  await assign('acme', 'standard-ib', '*', '2026-01-01')
  await assign('acme', 'standard-ib', 'IB-4', '2999-01-01')
  const forAll = { plan: 'standard-ib', from: '2026-01-01', for_all: true }
  expect((await list()).map(({ plan }) => plan)).toEqual([forAll, forAll, forAll, forAll])
  expect(await idsOf('?without_plan=true')).toEqual([])
})

test('§16.7 the next plan is the affiliate’s own, or the one for all that comes before it', async () => {
  const next = async () =>
    Object.fromEntries(
      (await list()).map(({ affiliate_id, next_plan }) => [affiliate_id, next_plan]),
    )
  await assign('acme', 'standard-ib', 'IB-3', '2026-01-01')
  await assign('acme', 'standard-ib', 'IB-4', '2999-02-01')
  await assign('acme', 'standard-ib', 'IB-4', '2999-03-01')
  await assign('acme', 'standard-ib', '*', '2999-01-01')
  const forAll = { plan: 'standard-ib', from: '2999-01-01', for_all: true }
  expect(await next()).toEqual({ 'AFF-1': forAll, 'ib-2': forAll, 'IB-3': null, 'IB-4': forAll })
})

test('filters narrow the list, and the search ignores case', async () => {
  await assign('acme', 'standard-ib', 'IB-3')
  await assign('acme', 'standard-ib', 'IB-4', '2999-01-01')
  expect(await idsOf('?search=ib')).toEqual(['IB-3', 'IB-4', 'ib-2'])
  expect(await idsOf('?without_plan=true')).toEqual(['AFF-1', 'IB-4', 'ib-2'])
})

test('an affiliate has a name and an address, which stay unless they are sent', async () => {
  const put = (one: object) =>
    askAdmin('accounts/acme/affiliates', 'PUT', [{ affiliate_id: 'IB-3', ...one }])
  const profile = { display_name: 'Forex Friends', contact_email: 'ada@friends.example' }
  expect(await json(put(profile))).toEqual({ received: 1, changed: 1 })
  expect(await json(put({ parent: 'IB-4' }))).toEqual({ received: 1, changed: 1 })
  expect(await json(put(profile))).toEqual({ received: 1, changed: 0 })
  const own = 'accounts/acme/affiliates?affiliate_id=IB-3'
  expect((await json(askAdmin(own))).data).toEqual([
    {
      ...{ affiliate_id: 'IB-3', parent: 'IB-4', ...profile },
      ...{ language: null, note: null, status: 'active', manager: null },
    },
  ])
  expect(await idsOf('?search=friends')).toEqual(['IB-3'])

  await put({ contact_email: null })
  expect((await list('?search=friends'))[0]).toMatchObject({ contact_email: null })
  expect((await put({ contact_email: 'nowhere' })).status).toBe(422)
  const { data } = await json(askAdmin('audit-log?account=acme'))
  expect(JSON.stringify(data)).not.toContain('friends')
})
