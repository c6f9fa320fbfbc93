import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Rule } from '../../src/commission/engine/plan.ts'
import { KEEPING } from '../../src/commission/statements/kept.ts'
import { day, deposited, eve } from '../brand.ts'
import { ada, askAdmin, deposit, traded } from '../partner.ts'
import { bothWays, keepEagerly, OPEN, openBrand, openPartner, rowsOf } from './kept-firms.ts'
import { monthly, storePlan } from './stored.ts'

// Every change of a record of a kept day is noted, and nothing else is.

const USUAL = { ...KEEPING }
beforeEach(() => keepEagerly())
afterEach(() => {
  Object.assign(KEEPING, USUAL)
})

const run = (sql: string, ...values: unknown[]) =>
  env.DB.prepare(sql)
    .bind(...values)
    .run()

const textOf = (days: number) => new Date(days * 86_400_000).toISOString().slice(0, 10)

/** Returns the kept days of which a record has changed, and asserts that statements are right. */
async function changedDays(account: string) {
  const { kept, records } = await bothWays(account)
  expect(kept).toEqual(records)
  return [...new Set((await rowsOf('changed_days', account)).map((one) => textOf(Number(one.day))))]
}

const paid = {
  ...{ ...deposit, transaction_id: 't-1', customer_id: 'c-1', currency: 'EUR' },
  ...{ amount_usd: undefined, transaction_date: '2030-03-04T10:00:00Z' },
}
const lots = { ...traded, customer_id: 'c-1', date: '2030-03-06' }

async function keptPartner() {
  const acme = await openPartner('acme-forex')
  const customers = ['c-1', 'c-2'].map((customer_id) => ({
    ...{ ...ada, customer_id, affiliate_id: 'a-1', signup_date: '2030-01-03T08:00:00Z' },
  }))
  await acme.post('customers', customers)
  await acme.post('transactions', [
    paid,
    {
      ...paid,
      transaction_id: 't-3',
      customer_id: 'c-2',
      transaction_date: '2030-03-05T10:00:00Z',
    },
    {
      ...paid,
      transaction_id: 't-2',
      customer_id: 'held',
      transaction_date: '2030-05-04T10:00:00Z',
    },
  ])
  await acme.post('trading-activity', [lots, { ...lots, customer_id: 'held', date: '2030-05-06' }])
  await acme.run(OPEN)
  expect(await rowsOf('kept_days', acme.account)).toMatchObject([{ ready: 1 }])
  return acme
}

type Partner = Awaited<ReturnType<typeof keptPartner>>

const PARTNER: [string, (acme: Partner) => Promise<unknown>, string[]][] = [
  ['nothing', async () => {}, []],
  [
    'a late transaction',
    (acme) => acme.post('transactions', [{ ...paid, transaction_id: 't-9' }]),
    ['2030-03-04'],
  ],
  [
    'a reversal',
    (acme) => acme.post('transactions', [{ ...paid, status: 'reversed' }]),
    ['2030-03-04'],
  ],
  ['the same transaction again', (acme) => acme.post('transactions', [paid]), []],
  [
    'a transaction that moves to another day',
    (acme) => acme.post('transactions', [{ ...paid, transaction_date: '2030-04-07T10:00:00Z' }]),
    ['2030-03-04', '2030-04-07'],
  ],
  [
    'a transaction that moves to an open day',
    (acme) => acme.post('transactions', [{ ...paid, transaction_date: '2030-12-02T10:00:00Z' }]),
    ['2030-03-04'],
  ],
  [
    'a transaction that moves to another customer',
    (acme) => acme.post('transactions', [{ ...paid, customer_id: 'c-2' }]),
    ['2030-03-04'],
  ],
  [
    'a transaction that is held',
    (acme) => acme.post('transactions', [{ ...paid, customer_id: 'unknown' }]),
    ['2030-03-04'],
  ],
  [
    'an open transaction',
    (acme) =>
      acme.post('transactions', [
        { ...paid, transaction_id: 't-9', transaction_date: '2030-12-02T10:00:00Z' },
      ]),
    [],
  ],
  [
    'trading activity',
    (acme) => acme.post('trading-activity', [{ ...lots, lots_traded: 7 }]),
    ['2030-03-06'],
  ],
  [
    'the release of held records',
    (acme) =>
      acme.post('customers', [
        { ...ada, customer_id: 'held', affiliate_id: 'a-1', signup_date: '2030-05-03T08:00:00Z' },
      ]),
    ['2030-05-04', '2030-05-06'],
  ],
  [
    'deleted transactions',
    (acme) => run('delete from transactions where account = ?', acme.account),
    ['2030-03-04', '2030-03-05', '2030-05-04'],
  ],
  [
    'deleted trading activity',
    (acme) => run('delete from activity where account = ?', acme.account),
    ['2030-03-06', '2030-05-06'],
  ],
  [
    'trading activity of another day',
    (acme) =>
      run(
        `update activity set date = date + 1 where customer_id = 'c-1' and account = ?`,
        acme.account,
      ),
    ['2030-03-06', '2030-03-07'],
  ],
  [
    'a change of affiliate',
    (acme) => acme.post('customers', [{ ...ada, customer_id: 'c-1', affiliate_id: 'a-2' }]),
    [],
  ],
  [
    'a corrected affiliation',
    (acme) =>
      askAdmin(`${acme.path}/customers/c-1/affiliations`, 'PUT', {
        reason: 'A mistake',
        affiliations: [{ from: null, affiliate_id: 'a-2' }],
      }),
    [],
  ],
  [
    'a refusal',
    (acme) => askAdmin(`${acme.path}/customers/c-1/refusal`, 'PUT', { reason: 'Fraud' }),
    [],
  ],
  [
    'a parent',
    (acme) =>
      askAdmin(`${acme.path}/affiliates`, 'PUT', [
        { affiliate_id: 'a-1', parent: 'a-2', from: '2030-01-01' },
      ]),
    [],
  ],
]

/** Fails if a change is a request that the service refused. */
function expectAccepted(change: unknown) {
  if (change instanceof Response) expect(change.ok).toBe(true)
}

describe.each(PARTNER)('after %s', (_, change, days) => {
  test('a computation reads the records of the changed days', async () => {
    const acme = await keptPartner()
    expectAccepted(await change(acme))
    expect((await changedDays(acme.account)).sort()).toEqual(days)
    const kept = await rowsOf('kept_days', acme.account)
    expect(kept).toMatchObject([{ first_day: 21_915, ready: 1 }])
  })
})

const stats = { ...day, createtime: '2030-03-04' }
const first = { ...deposited, createtime: '2030-03-06 10:00', note: 'a' }
/** Events without a time lie on the day of their first receipt. */
const withoutTime = { ...deposited, eventid: 'e-2', createtime: undefined, note: 'a' }

async function keptBrand() {
  const casino = await openBrand('acme-casino')
  const { tracking_data } = casino.links[0]!
  await casino.post('customers', { ...eve, regtime: '2030-01-03 08:30', tracking_data })
  await casino.post('activities', stats)
  await casino.post('activities', { ...stats, customerid: 'held', createtime: '2030-05-04' })
  await casino.post('activities', first)
  await casino.post('activities', withoutTime)
  await run(`update events set day = 22071, first_day = 22071 where createtime is null`)
  await casino.run(OPEN)
  expect(await rowsOf('kept_days', casino.account)).toMatchObject([{ ready: 1 }])
  return { ...casino, tracking_data }
}

type Brand = Awaited<ReturnType<typeof keptBrand>>

const BRAND: [string, (casino: Brand) => Promise<unknown>, string[]][] = [
  [
    'a late activity',
    ({ post }) => post('activities', { ...stats, createtime: '2030-03-07' }),
    ['2030-03-07'],
  ],
  ['a changed activity', ({ post }) => post('activities', { ...stats, NGR: '99' }), ['2030-03-04']],
  [
    'an event that moves',
    ({ post }) => post('activities', { ...first, createtime: '2030-04-07 10:00' }),
    ['2030-03-06', '2030-04-07'],
  ],
  [
    'an event without a time that is sent again',
    ({ post }) => post('activities', { ...withoutTime, Value: '77' }),
    ['2030-06-06'],
  ],
  [
    'the release of held activities',
    ({ post, tracking_data }) => post('customers', { ...eve, customerId: 'held', tracking_data }),
    ['2030-05-04'],
  ],
  [
    'deleted activities',
    ({ account }) => run('delete from events where account = ?', account),
    ['2030-03-04', '2030-03-06', '2030-05-04', '2030-06-06'],
  ],
  ['an erasure', ({ path }) => askAdmin(`${path}/customers/p-1/personal-data`, 'DELETE'), []],
]

describe.each(BRAND)('of a brand, after %s', (_, change, days) => {
  test('a computation reads the records of the changed days', async () => {
    const casino = await keptBrand()
    expectAccepted(await change(casino))
    expect((await changedDays(casino.account)).sort()).toEqual(days)
  })
})

test.each([
  [
    'the status map changes',
    (acme: Partner) => askAdmin(`${acme.path}/status-map`, 'PUT', { settled: 'approved' }),
  ],
  [
    'a plan names other records',
    async (acme: Partner) => {
      const base = [{ transactions: ['chargeback'] }]
      const rules: Rule[] = [{ id: 'x', kind: 'share', percent: '5', base }]
      await storePlan(acme.account, 'ib', monthly(rules, { effective_from: '2030-12-01' }), 2)
    },
  ],
])('nothing is used once %s, until a run has kept it anew', async (_, change) => {
  const acme = await keptPartner()
  const before = (await rowsOf('kept_days', acme.account))[0]!.generation
  expectAccepted(await change(acme))
  const { kept, records, usable } = await bothWays(acme.account)
  expect([usable, kept]).toEqual([[], records])
  await acme.run(OPEN)
  const after = await bothWays(acme.account)
  expect(after.kept).toEqual(after.records)
  expect(after.usable).toHaveLength(1)
  expect(after.usable[0]!.generation).not.toBe(before)
})

test('a reset deletes what an account keeps', async () => {
  const acme = await keptPartner()
  expect((await askAdmin(`${acme.path}/reset`, 'POST')).status).toBe(204)
  for (const table of ['kept_days', 'kept_facts', 'changed_days']) {
    expect(await rowsOf(table, acme.account), table).toEqual([])
  }
})
