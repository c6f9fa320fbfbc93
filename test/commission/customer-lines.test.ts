import { expect, test } from 'vitest'
import type { Rule } from '../../src/commission/engine/plan.ts'
import { askAdmin, json, partner } from '../partner.ts'
import { emptyWorld } from '../world.ts'
import { assign, draftsOf, monthly, storePlan } from './stored.ts'

// The lines that count the records of one customer.

const share: Rule = {
  id: 'share',
  kind: 'share',
  percent: '30',
  base: [{ transactions: ['deposit'] }],
}
const unit: Rule = {
  id: 'unit',
  kind: 'unit',
  unit: { count: { transactions: ['deposit'] } },
  amount: '2.00',
}
const cpa: Rule = {
  id: 'cpa',
  kind: 'once',
  trigger: { transactions: ['deposit'], min: '100' },
  amount: '200.00',
}

const customer = (customer_id: string) => ({
  customer_id,
  signup_date: '2026-10-01T08:00:00Z',
  affiliate_id: 'ib-1',
  tracking_data: 'x',
})

const deposit = (
  transaction_id: string,
  customer_id: string,
  amount_currency: number,
  day = '05',
) => ({
  ...{ transaction_id, customer_id, amount_currency, currency: 'EUR', status: 'approved' },
  ...{ transaction_type: 'deposit', transaction_date: `2026-10-${day}T10:00:00Z` },
})

async function firm() {
  await emptyWorld()
  const acme = await partner('forex', { account: 'acme', affiliates: ['ib-1'] })
  await storePlan('acme', 'standard', monthly([share, unit, cpa]))
  await assign('acme', 'standard')
  await acme.post('customers', [customer('c-1'), customer('c-2')])
  await acme.post('transactions', [
    deposit('t-1', 'c-1', 100.1),
    deposit('t-2', 'c-1', 50, '06'),
    deposit('t-3', 'c-2', 20),
    { ...deposit('t-4', 'c-1', 7), transaction_date: '2026-11-02T10:00:00Z' },
  ])
}

interface Line {
  line_id: string
  affiliate_id: string
  plan: string
  period: string
  rule: string
  records: number
  base: string | null
  units: string | null
}

const linesOf = async (id: string, period = '2026-10'): Promise<Line[]> =>
  (await json(askAdmin(`accounts/acme/customers/${id}/lines?period=${period}`))).data

test('the lines of a customer say how many of their records each counts, and for how much', async () => {
  await firm()

  const shown = (await linesOf('c-1')).map(({ rule, records, base, units }) => [
    rule,
    records,
    base,
    units,
  ])
  expect(shown).toEqual([
    ['cpa', 1, null, null],
    ['share', 2, '150.1', null],
    ['unit', 2, null, '2'],
  ])
  expect((await linesOf('c-1', '2026-11')).map(({ rule, base }) => [rule, base])).toEqual([
    ['share', '7'],
    ['unit', null],
  ])
})

test('the parts of all customers sum to the line of the statement, with the same id', async () => {
  await firm()
  const [draft] = await draftsOf('acme', '2026-10', ['ib-1'])
  const lines = [...(await linesOf('c-1')), ...(await linesOf('c-2'))]

  for (const { id, rule, base, units } of draft!.lines) {
    const parts = lines.filter(({ line_id }) => line_id === id)
    expect([rule, parts.length > 0]).toEqual([rule, true])
    if (rule === 'share')
      expect([base, parts.map((part) => part.base)]).toEqual(['170.1', ['150.1', '20']])
    if (rule === 'unit') expect([units, parts.map((part) => part.units)]).toEqual(['3', ['2', '1']])
  }
  expect(new Set(lines.map(({ line_id }) => line_id))).toEqual(
    new Set(draft!.lines.map(({ id }) => id)),
  )
})

test('the lines of a customer are in the order of affiliate, plan, period and rule', async () => {
  await emptyWorld()
  const acme = await partner('forex', { account: 'acme', affiliates: ['ib-1', 'ib-2'] })
  await storePlan('acme', 'weekly', monthly([unit, share], { period: 'week' }))
  await storePlan('acme', 'monthly', monthly([unit, share]))
  await assign('acme', 'weekly')
  await assign('acme', 'monthly', 'ib-2', '2026-01-01')
  await assign('acme', 'weekly', 'ib-2', '2026-10-05', 'all')
  await acme.post('customers', [{ ...customer('c-1'), affiliate_id: 'ib-2' }])
  const affiliations = [
    { from: null, affiliate_id: 'ib-2' },
    { from: '2026-10-26', affiliate_id: 'ib-1' },
  ]
  await askAdmin('accounts/acme/customers/c-1/affiliations', 'PUT', { reason: 'x', affiliations })
  await acme.post(
    'transactions',
    ['02', '05', '12', '27'].map((day) => deposit(`t-${day}`, 'c-1', 100, day)),
  )

  const shown = (await linesOf('c-1')).map(({ affiliate_id, plan, period, rule }) =>
    [affiliate_id, plan, period, rule].join(' '),
  )
  expect(shown).toEqual([
    'ib-1 weekly 2026-W44 share',
    'ib-1 weekly 2026-W44 unit',
    'ib-2 monthly 2026-10 share',
    'ib-2 monthly 2026-10 unit',
    'ib-2 weekly 2026-W41 share',
    'ib-2 weekly 2026-W41 unit',
    'ib-2 weekly 2026-W42 share',
    'ib-2 weekly 2026-W42 unit',
  ])
})

test('a customer who is not stored has no lines, and the period is required', async () => {
  await firm()

  expect(await linesOf('nobody')).toEqual([])
  const refused = await askAdmin('accounts/acme/customers/c-1/lines')
  expect([refused.status, (await refused.json<{ detail: string }>()).detail]).toEqual([
    400,
    expect.stringContaining('`period` is required'),
  ])
})
