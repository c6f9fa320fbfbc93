import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, test } from 'vitest'
import { REQUEST_LIMITS } from '../../src/commission/limits.ts'
import { brand } from '../brand.ts'
import { countCalls } from '../ingest/watched.ts'
import { restoring } from '../limits.ts'
import { ask, askAdmin, json, partner } from '../partner.ts'
import { customerOf } from './build.ts'
import { monthly, storePlan } from './stored.ts'
import { storeWorld } from './stored-world.ts'
import type { World } from './world.ts'

restoring(REQUEST_LIMITS)

const PATH = 'accounts/acme/plans/ib/simulate'

const share = (percent: string) => ({
  id: 'deposits',
  kind: 'share' as const,
  percent,
  base: [{ transactions: ['deposit'] }],
})

const UPLINE = {
  id: 'master',
  kind: 'override' as const,
  level: 1,
  of: { lines: ['share' as const] },
  percent: '10',
}

const deposit = (transaction_id: string, customer_id: string, day: string, amount: number) => ({
  ...{ transaction_id, customer_id, transaction_type: 'deposit', amount_currency: amount },
  ...{ currency: 'EUR', at: Date.parse(`${day}T12:00:00Z`), status: 'approved' },
})

/** a has a parent m with an override; b is alone. */
const WORLD: World = {
  vertical: 'forex',
  affiliates: [
    { affiliate_id: 'm', parents: [{ from: null, parent: null }] },
    { affiliate_id: 'a', parents: [{ from: null, parent: 'm' }] },
    { affiliate_id: 'b', parents: [{ from: null, parent: null }] },
    { affiliate_id: 'other', parents: [{ from: null, parent: null }] },
  ],
  status_map: {},
  customers: [customerOf('c-a', 'a'), customerOf('c-b', 'b'), customerOf('c-o', 'other')],
  transactions: [
    deposit('t1', 'c-a', '2026-09-03', 500),
    deposit('t2', 'c-a', '2026-10-03', 100.25),
    deposit('t3', 'c-a', '2026-10-04', 1000),
    deposit('t4', 'c-b', '2026-10-04', 100),
    deposit('t5', 'c-o', '2026-10-04', 9000),
  ],
  activity: [],
  events: [],
  rates: [],
  plans: [
    { plan: 'ib', versions: [{ version: 1, terms: monthly([share('10')]) }] },
    { plan: 'masters', versions: [{ version: 1, terms: monthly([UPLINE]) }] },
    { plan: 'own', versions: [{ version: 1, terms: monthly([share('1')]) }] },
  ],
  assignments: [
    { affiliate_id: '*', plan: 'ib', from: '2026-01-01', customers: 'new' },
    { affiliate_id: 'm', plan: 'masters', from: '2026-01-01', customers: 'new' },
    { affiliate_id: 'other', plan: 'own', from: '2026-01-01', customers: 'new' },
  ],
}

/** 10 %, and 12 % of all deposits of a month from 1,000 on. */
const { effective_from: _, ...VERSION } = monthly([
  {
    ...share('10'),
    percent: undefined,
    tiers: {
      mode: 'whole',
      steps: [
        { from: '0', percent: '10' },
        { from: '1000', percent: '12' },
      ],
    },
  } as never,
])

beforeEach(() => storeWorld(WORLD, 'acme'))

const simulate = (body: object, query = '', headers = {}) =>
  askAdmin(`${PATH}${query}`, 'POST', body, headers)

const OCTOBER = { period: '2026-10', version: VERSION }

describe('a simulation of 10 % to 12 % with a tier', () => {
  const rowOf = (affiliate_id: string, plan: string, current: string, simulated: string) => ({
    ...{ affiliate_id, plan, currency: 'EUR', current, simulated },
  })
  // 1100.25 at 10 % is 110.025, at 12 % 132.03.
  const OWN = { ...rowOf('a', 'ib', '110.02', '132.03'), difference: '22.01' }
  const ALONE = { ...rowOf('b', 'ib', '10.00', '10.00'), difference: '0.00' }
  // 10 % of 110.02, or 132.03, each rounded.
  const ABOVE = { ...rowOf('m', 'masters', '11.00', '13.20'), difference: '2.20' }

  test('the difference of each affiliate, its upline included', async () => {
    expect(await json(simulate(OCTOBER))).toEqual({
      plan: 'ib',
      period: '2026-10',
      currency: 'EUR',
      data: [OWN, ALONE, ABOVE],
      affiliates: 3,
      skipped: [],
      warnings: [],
      meta: { next_cursor: null },
    })
  })

  test('nothing is written', async () => {
    const { response, rowsWritten, trips } = await countCalls(`/admin/v1/${PATH}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${env.ADMIN_KEY}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(OCTOBER),
    })
    expect([response.status, rowsWritten]).toEqual([200, 0])
    expect(trips).toBeGreaterThan(0)
    expect((await json(askAdmin('audit-log?account=acme'))).data).toEqual([])
    expect((await json(askAdmin('accounts/acme/plans/ib'))).versions).toHaveLength(1)
  })
})

test('accounts cannot simulate', async () => {
  const acme = await partner('forex', { account: 'firm' })
  expect((await acme.post('plans/ib/simulate', OCTOBER)).status).toBe(404)
  const site = await brand()
  expect((await site.post('plans/ib/simulate', OCTOBER)).status).toBe(404)
  const anyone = await ask(`/admin/v1/${PATH}`, { method: 'POST', body: JSON.stringify(OCTOBER) })
  expect(anyone.status).toBe(401)
})

describe('the limit of records', () => {
  /** Adds this many deposits of 1.00 to a customer in October. */
  const addDeposits = (customer_id: string, count: number, before = 0) =>
    env.DB.prepare(
      `with recursive n(i) as (select ?4 + 1 union all select i + 1 from n where i < ?4 + ?1)
       insert into transactions (account, transaction_id, customer_id, transaction_type,
         amount_currency, currency, transaction_date, status, day, held, delivery, idx, revision)
       select 'acme', ?2 || '-' || i, ?3, 'deposit', 1, 'EUR', 0, 'approved', 20728, 0, 'dlv_1', 0, 1
       from n`,
    )
      .bind(count, customer_id, customer_id, before)
      .run()

  test('pages follow a cursor, have all affiliates once, and name one with more than 50,000 records', async () => {
    expect(REQUEST_LIMITS.facts).toBe(50_000)
    REQUEST_LIMITS.facts = 5000
    await addDeposits('c-a', 4900)
    await addDeposits('c-b', 2000)
    const first = await simulate(OCTOBER)
    const page = await json(first)
    expect(page.data.map((row: { affiliate_id: string }) => row.affiliate_id)).toEqual(['a'])
    const { next_cursor } = page.meta
    const query = `?cursor=${encodeURIComponent(next_cursor)}`
    const second = await json(simulate(OCTOBER, query))
    expect(second.data.map((row: { affiliate_id: string }) => row.affiliate_id)).toEqual(['b'])
    const last = await json(
      simulate(OCTOBER, `?cursor=${encodeURIComponent(second.meta.next_cursor)}`),
    )
    expect(last.data.map((row: { affiliate_id: string }) => row.affiliate_id)).toEqual(['m'])
    expect(last.meta.next_cursor).toBeNull()

    await addDeposits('c-a', 100, 4900)
    const { data, skipped, meta } = await json(simulate(OCTOBER))
    expect([data, skipped]).toEqual([[], ['a']])
    const cursor = encodeURIComponent(meta.next_cursor)
    const next = await json(simulate(OCTOBER, `?cursor=${cursor}`))
    const rest = next.data.map((row: { affiliate_id: string }) => row.affiliate_id)
    expect([rest, next.affiliates, next.skipped]).toEqual([['b'], 1, []])
  })
})

describe('a simulation is refused', () => {
  const period = '2026-10'
  test.each([
    [{ version: VERSION }, '/period', 'required'],
    [{ period: '2026-W41', version: VERSION }, '/period', 'pattern'],
    [{ period: '2026-13', version: VERSION }, '/period', 'pattern'],
    [{ period: '2099-01', version: VERSION }, '/period', 'pattern'],
    [{ period, version: VERSION, dry_run: true }, '/dry_run', 'unknown_field'],
    [{ period }, '/version', 'required'],
    [{ period, version: [] }, '/version', 'type'],
    [{ period, version: { ...VERSION, currency: 'USD' } }, '/version/currency', 'fixed_by_plan'],
    [{ period, version: { ...VERSION, perod: 'week' } }, '/version/perod', 'unknown_field'],
    [
      { period, version: { ...VERSION, effective_from: '1 May' } },
      '/version/effective_from',
      'date',
    ],
    [{ period, version: { ...VERSION, rules: [1] } }, '/version/rules/0', 'type'],
  ])('%# %j', async (body, pointer, code) => {
    const response = await simulate(body)
    expect(response.status).toBe(422)
    expect((await json(response)).errors).toMatchObject([{ pointer, code }])
  })

  test.each([
    ['month', '2026-W41', 'a month such as `2026-10`, at most 10 years ahead'],
    ['month', '2099-01', 'a month such as `2026-10`, at most 10 years ahead'],
    ['week', '2026-10', 'a week such as `2026-W41`, at most 10 years ahead'],
  ] as const)('for a plan of a %s and the period %s', async (kind, refused, expected) => {
    const version = { ...VERSION, effective_from: '2026-01-01', period: kind }
    await storePlan('acme', kind, version)
    const path = `accounts/acme/plans/${kind}/simulate`
    const { errors } = await json(askAdmin(path, 'POST', { period: refused, version }))
    const message = `\`${refused}\` is not valid. Expected ${expected}.`
    expect(errors).toMatchObject([{ pointer: '/period', message }])
  })

  test('a plan that does not exist, and a parameter that is wrong', async () => {
    const none = await askAdmin('accounts/acme/plans/none/simulate', 'POST', OCTOBER)
    expect(none.status).toBe(404)
    for (const query of ['?assigned_to_all=true', '?affiliate_id=a', '?page=1']) {
      expect((await simulate(OCTOBER, query)).status).toBe(400)
    }
  })
})
