import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { beginRun, makeStep } from '../../src/commission/run/runs.ts'
import { ada, askAdmin, deposit, json, partner } from '../partner.ts'
import { assign, draftsOf, monthly, publish, storePlan } from './stored.ts'
import { storeStarted } from './stored-runs.ts'

const customer = (customer_id: string) => ({ ...ada, customer_id, affiliate_id: 'ib-1' })

const transaction = (
  transaction_id: string,
  customer_id: string,
  amount_currency: number,
  transaction_date: string,
  own: object = {},
) => ({ ...deposit, transaction_id, customer_id, amount_currency, transaction_date, ...own })

test('forex: CPA with qualification, lots by instrument, and a share with deductions', async () => {
  const acme = await partner('forex', { affiliates: ['ib-1'] })
  await storePlan(
    acme.account,
    'ib',
    monthly([
      {
        id: 'cpa',
        kind: 'once',
        trigger: { transactions: ['deposit'], min: '100' },
        amount: '200.00',
        qualify: [{ sum: [{ transactions: ['deposit'] }], min: '500', within_days: 30 }],
      },
      {
        id: 'majors',
        kind: 'unit',
        unit: { activity: 'lots_traded' },
        amount: '5.00',
        when: { instruments: ['EURUSD*'] },
      },
      {
        id: 'spread',
        kind: 'share',
        percent: '30',
        base: [
          { activity: 'spread_cost' },
          { name: 'fees', activity: 'commission' },
          { of: ['fees'], times: '-0.2' },
        ],
      },
    ]),
  )
  await assign(acme.account, 'ib')
  await publish('2026-10-05', { USD: '1.25' })
  await publish('2026-10-30', { USD: '1.25' })
  await acme.post('customers', [customer('c-1'), customer('c-2')])
  await acme.post('transactions', [
    transaction('t-1', 'c-1', 300, '2026-10-05T10:00:00Z'),
    transaction('t-2', 'c-1', 250, '2026-10-06T10:00:00Z', { currency: 'USD' }),
    transaction('t-3', 'c-2', 499, '2026-10-06T10:00:00Z'),
    transaction('t-4', 'c-2', 900, '2026-10-06T10:00:00Z', { status: 'pending' }),
  ])
  const day = { date: '2026-10-06', currency: 'USD', pnl: 1 }
  await acme.post('trading-activity', [
    {
      ...day,
      customer_id: 'c-1',
      instrument: 'EURUSD.m',
      lots_traded: 1.5,
      spread_cost: 10,
      commission: 2.5,
    },
    { ...day, customer_id: 'c-1', instrument: 'XAUUSD', lots_traded: 7, spread_cost: 2.5 },
    { ...day, customer_id: 'c-2', instrument: 'eurusd', lots_traded: 0.25, spread_cost: 1.1 },
  ])
  const [draft, ...others] = await draftsOf(acme.account, '2026-10', ['ib-1'])
  expect(others).toEqual([])
  expect(
    draft?.lines.map(({ rule, scope, base, units, amount, fx }) => [
      rule,
      scope,
      base,
      units,
      amount,
      fx,
    ]),
  ).toEqual([
    ['cpa', 'customer:c-1', null, null, '200.00', []],
    ['majors', 'affiliate', null, '1.75', '8.75', []],
    // 13.6 USD spread + 2.5 USD fees - 20 % of them = 15.6 USD = 12.48 EUR; 30 % = 3.744
    [
      'spread',
      'affiliate',
      '12.48',
      null,
      '3.74',
      [{ currency: 'USD', amount: '15.6', converted: '12.48' }],
    ],
  ])
  expect(draft?.head).toMatchObject({
    total: '212.49',
    payable: '212.49',
    closing: '0.00',
    payable_on: '2026-11-14',
    holds: [],
  })
  expect(draft?.head.id).toMatch(/^stm_[\da-f]{24}$/)
  expect(draft?.lines[0]?.id).toMatch(/^lin_[\da-f]{40}$/)
})

test('a transferred closing is stored in both statements', async () => {
  const acme = await partner('forex', { affiliates: ['ib-1'] })
  const share = monthly(
    [{ id: 's', kind: 'share', percent: '10', base: [{ transactions: ['deposit'] }] }],
    { minimum_payout: '50' },
  )
  await storePlan(acme.account, 'old', share)
  await storePlan(acme.account, 'new', { ...share, period: 'week' })
  await assign(acme.account, 'old')
  await assign(acme.account, 'new', 'ib-1', '2026-10-20', 'all')
  await acme.post('customers', customer('c-1'))
  await acme.post('transactions', [
    transaction('t-1', 'c-1', 70, '2026-10-05T10:00:00Z'),
    transaction('t-2', 'c-1', 30, '2026-10-20T10:00:00Z'),
  ])
  for (const period of ['2026-10', '2026-W45']) {
    const parameters = await storeStarted(acme.account, period)
    await beginRun(env as Env, parameters, Date.now())
    await makeStep(env as Env, parameters, 1, Date.now())
  }
  const { data } = await json(askAdmin(`accounts/${acme.account}/statements`))
  expect(data).toMatchObject([
    {
      ...{ plan: 'old', period: '2026-10', opening: '0.00', total: '7.00', closing: '0.00' },
      transferred: { to: 'new', period: '2026-W45', amount: '7.00' },
      received: [],
    },
    { plan: 'new', period: '2026-W43', closing: '3.00', transferred: null, received: [] },
    { plan: 'new', period: '2026-W44', opening: '3.00', closing: '3.00', received: [] },
    {
      ...{ plan: 'new', period: '2026-W45', opening: '10.00', total: '0.00', closing: '10.00' },
      ...{ transferred: null, received: [{ from: 'old', period: '2026-10', amount: '7.00' }] },
    },
  ])
})
