import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import propChallenge from '../../examples/plans/prop-challenge.json'
import type { PlanTerms, Rule } from '../../src/commission/engine/plan.ts'
import { ada, askAdmin, json, partner } from '../partner.ts'
import { assign, monthly, storePlan } from './stored.ts'
import { storeDrafts } from './stored-runs.ts'

// What firms and brands send in practice, from the request to the statement.

const ACCOUNT = 'acme'
const admin = (path: string, method?: string, body?: unknown) =>
  json(askAdmin(`accounts/${ACCOUNT}/${path}`, method, body))

/** Returns the lines that are computed now, as `rule amount`. */
async function linesOf(period: string, affiliate = 'ib-1'): Promise<string[]> {
  const { data } = await admin(`statements?affiliate_id=${affiliate}&period=${period}&fresh=true`)
  return data.flatMap(({ lines }: { lines: { rule: string; amount: string }[] }) =>
    lines.map(({ rule, amount }) => `${rule} ${amount}`),
  )
}

const customer = (customer_id: string, signup_date = '2026-03-01T08:00:00Z') => ({
  ...ada,
  customer_id,
  signup_date,
  affiliate_id: 'ib-1',
  tracking_data: 'ib-1',
})

const paid = (
  transaction_id: string,
  customer_id: string,
  transaction_type: string,
  amount_currency: number,
  day: string,
  more = {},
) => ({
  transaction_id,
  customer_id,
  transaction_type,
  amount_currency,
  currency: 'USD',
  transaction_date: `${day}T10:00:00Z`,
  status: 'approved',
  ...more,
})

const cpa: Rule = {
  id: 'cpa',
  kind: 'once',
  trigger: { transactions: ['deposit'], min: '100' },
  amount: '200.00',
}

async function firm(vertical: 'forex' | 'prop-trading', terms: PlanTerms) {
  const acme = await partner(vertical, { account: ACCOUNT, affiliates: ['ib-1'] })
  await storePlan(ACCOUNT, 'plan', terms)
  await assign(ACCOUNT, 'plan')
  return acme
}

describe.each([
  ['magnitude', 1],
  ['signed', -1],
])('outflows that are sent as %s', (amount_signs, sign) => {
  const sign_up = async (acme: Awaited<ReturnType<typeof firm>>) => {
    await askAdmin(`accounts/${ACCOUNT}`, 'PATCH', { amount_signs })
    await acme.post('customers', [customer('c1'), customer('c2')])
  }

  test('the template of challenges takes refunds back', async () => {
    const acme = await firm('prop-trading', {
      ...(propChallenge as PlanTerms),
      effective_from: '2020-01-01',
    })
    await sign_up(acme)
    await acme.post('transactions', [
      paid('t1', 'c1', 'challenge_fee', 500, '2026-03-05'),
      paid('t2', 'c1', 'refund', sign * 500, '2026-03-07'),
      paid('t3', 'c2', 'reset_fee', 100, '2026-03-05'),
      paid('t4', 'c2', 'refund', sign * 100, '2026-03-07', {
        transaction_subtype: 'reset_refund',
      }),
    ])
    expect(await linesOf('2026-03')).toEqual(['resets 0.00'])
    const { metrics } = (await admin('reports?from=2026-03-01&to=2026-03-31')).totals
    expect(metrics).toMatchObject({ net_revenue: '0', refund_amount: '600' })
  })

  test('withdrawals reduce a base and net deposits, and void a CPA', async () => {
    const acme = await firm(
      'forex',
      monthly(
        [
          {
            ...{ id: 'net', kind: 'share', percent: '10' },
            base: [{ transactions: ['deposit'] }, { transactions: ['withdrawal'], times: '-1' }],
          },
          { ...cpa, void_by: { terms: [{ transactions: ['withdrawal'] }], within_days: 7 } },
        ],
        { currency: 'USD' },
      ),
    )
    await sign_up(acme)
    await acme.post('transactions', [
      paid('t1', 'c1', 'deposit', 500, '2026-03-05'),
      paid('t2', 'c1', 'withdrawal', sign * 500, '2026-03-06'),
    ])
    expect(await linesOf('2026-03')).toEqual(['net 0.00'])
    const { metrics } = (await admin('reports?from=2026-03-01&to=2026-03-31')).totals
    expect(metrics).toMatchObject({ withdrawal_amount: '500', net_deposits: '0' })
    const { data } = await admin('totals/transactions?from=2026-03-06&to=2026-03-06')
    expect(JSON.stringify(data)).toContain(`"${sign * 500}"`)
  })
})

describe('times that cannot be', () => {
  test('a record of 1970 does not take back an approved CPA', async () => {
    const acme = await firm('forex', monthly([cpa], { currency: 'USD' }))
    await acme.post('customers', [customer('c2')])
    await acme.post('transactions', [paid('t1', 'c2', 'deposit', 500, '2026-03-10')])
    await storeDrafts(ACCOUNT, '2026-03', ['ib-1'])
    await env.DB.prepare(
      `update statements set status = 'approved', approval = 'a', approved_at = ?`,
    )
      .bind(Date.now())
      .run()
    await acme.post('transactions', [paid('old', 'c2', 'deposit', 100, '1970-01-01')])

    const { data } = await admin('statements?affiliate_id=ib-1&period=2026-04&fresh=true')
    expect(data.flatMap(({ adjustments }: { adjustments: unknown[] }) => adjustments)).toEqual([])
    const state = { reason: 'implausible_time', eventname: null, transaction_type: 'deposit' }
    expect((await admin('unearned?period=1970-01')).data).toMatchObject([state])
  })

  test('nothing is counted in a period that cannot be asked for', async () => {
    const acme = await firm('forex', monthly([cpa], { currency: 'USD' }))
    await acme.post('customers', [customer('c1')])
    await acme.post('transactions', [
      paid('t1', 'c1', 'deposit', 500, '9999-12-31'),
      paid('t2', 'c1', 'deposit', 500, '2062-12-31'),
    ])
    for (const id of ['t1', 't2']) {
      const { state } = await admin(`transactions/${id}/earnings`)
      expect(state).toMatchObject({ reason: 'implausible_time' })
    }
  })
})
