import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import propChallenge from '../../examples/plans/prop-challenge.json'
import type { PlanTerms, Rule } from '../../src/commission/plans/types.ts'
import { brand } from '../brand.ts'
import { linkOf } from '../days.ts'
import { ada, askAdmin, json, partner } from '../partner.ts'
import { assign, monthly, storePlan } from './stored.ts'
import { storeDrafts } from './stored-runs.ts'

// What firms and brands send in practice, from the request to the statement.

const ACCOUNT = 'acme'
const admin = (path: string, method?: string, body?: unknown) =>
  json(askAdmin(`accounts/${ACCOUNT}/${path}`, method, body))

/** Returns the lines that are computed now, as `rule amount`. */
async function linesOf(period: string, affiliate = 'ib-1'): Promise<string[]> {
  const items = await itemsOf(period, affiliate)
  return items.map(({ rule, amount }) => `${rule} ${amount}`)
}

/** Returns the lines and adjustments that a run stores now. */
async function itemsOf(period: string, affiliate = 'ib-1') {
  await storeDrafts(ACCOUNT, period, [affiliate])
  const { results } = await env.DB.prepare(
    `select lines from statements where account = ? and period = ? and affiliate_id = ? and status = 'draft'`,
  )
    .bind(ACCOUNT, period, affiliate)
    .all<{ lines: string }>()
  return results.flatMap(({ lines }) => JSON.parse(lines)) as { rule: string; amount: string }[]
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
    const { data } = await admin('totals?from=2026-03-06&to=2026-03-06')
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

    expect(await itemsOf('2026-04')).toEqual([])
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
      const { state } = await admin(`earnings?resource=transactions&id=${id}`)
      expect(state).toMatchObject({ reason: 'implausible_time' })
    }
  })
})

/** Creates a brand whose plan counts all customers from March on. */
async function casino(rules: Rule[], customers: object[], events: Record<string, object> = {}) {
  const one = await brand({ account: ACCOUNT, events })
  const { tracking_data } = await linkOf(ACCOUNT, 'ib-1')
  await storePlan(ACCOUNT, 'plan', monthly(rules))
  await assign(ACCOUNT, 'plan')
  for (const sent of customers) {
    await one.post('customers', { regtime: '2026-03-01 08:00', tracking_data, ...sent })
  }
  return one
}

const ngr = (id: string, percent: string, when: Rule['when']): Rule => ({
  ...{ id, kind: 'share', percent, base: [{ event: 'Stats', kpi: 'NGR' }] },
  ...(when && { when }),
})

describe('a brand', () => {
  test('its countries match a plan as they are, as codes and as names', async () => {
    const sent = ['DE', 'de', 'De', ' DE', 'Germany', 'GER', 'DEU', '49']
    const customers = sent.map((country, i) => ({ customerId: `p-${i}`, country }))
    const { post } = await casino(
      [
        ngr('de', '10', { countries: ['DE'] }),
        ngr('not', '1', { not_countries: ['germany'] }),
        ngr('own', '2', { countries: ['49'] }),
      ],
      customers,
    )
    for (const { customerId: customerid } of customers) {
      const stats = { eventname: 'Stats', customerid, createtime: '2026-03-05', NGR: '100' }
      await post('activities', { ...stats, Currency: 'EUR' })
    }
    // `GER` and `49` are no code of ISO 3166.
    expect(await linesOf('2026-03')).toEqual(['de 60.00', 'not 2.00', 'own 2.00'])
  })

  test('the plan of a partner names countries by two capital letters', async () => {
    await partner('forex', { account: ACCOUNT, affiliates: ['ib-1'] })
    const rule = { ...cpa, when: { countries: ['de'] } }
    const put = askAdmin(`accounts/${ACCOUNT}/plans/plan`, 'PUT', monthly([rule]))
    expect((await put).status).toBe(422)
  })

  test('a status takes an event back, and reports tell it apart', async () => {
    const Deposit = { granularity: 'event', status_member: 'state', outflow: false }
    const once: Rule = {
      ...{ id: 'cpa', kind: 'once', amount: '200.00' },
      trigger: { event: 'Deposit', min: '100' },
    }
    const net: Rule = { id: 'net', kind: 'share', percent: '10', base: [{ event: 'Deposit' }] }
    const { post } = await casino([once, net], [{ customerId: 'p-1' }], { Deposit })
    await askAdmin(`accounts/${ACCOUNT}/status-map`, 'PUT', { cancelled: 'declined' })
    const sent = (eventid: string, Value: string, more = {}) =>
      post('activities', {
        ...{ eventname: 'Deposit', customerid: 'p-1', eventid, createtime: '2026-03-05 10:00' },
        ...{ Value, Currency: 'EUR', ...more },
      })
    await sent('e1', '150')
    await sent('e2', '500', { createtime: '2026-03-10 10:00' })
    expect(await linesOf('2026-03')).toEqual(['cpa 200.00', 'net 65.00'])
    await sent('e1', '150', { state: 'cancelled' })
    expect(await linesOf('2026-03')).toEqual(['cpa 200.00', 'net 50.00'])
    await sent('e1', '150', { state: 'reversed' })
    expect(await linesOf('2026-03')).toEqual(['net 50.00'])

    const { data } = await admin('unearned?period=2026-03&reason=reversed')
    expect(data).toMatchObject([{ reason: 'reversed', eventname: 'Deposit', count: 1 }])
    const { metrics } = (await admin('reports?from=2026-03-01&to=2026-03-31&currency=EUR')).totals
    expect(metrics).toMatchObject({
      'Deposit.count': 1,
      'Deposit.Value': '500',
      'Deposit.unapproved.count': 1,
      'Deposit.unapproved.Value': '150',
    })
  })

  test('§16.23 an event that is sent again with the value 0 pays no CPA any more', async () => {
    const once: Rule = { ...cpa, trigger: { event: 'Deposit' } }
    const { post } = await casino([once], [{ customerId: 'p-1' }, { customerId: 'p-2' }])
    const sent = (Value: string) =>
      post('activities', {
        ...{ eventname: 'Deposit', customerid: 'p-1', eventid: 'e1' },
        ...{ createtime: '2026-03-05 10:00', Value, Currency: 'EUR' },
      })
    await sent('150')
    expect(await linesOf('2026-03')).toEqual(['cpa 200.00'])
    await sent('0.00')
    expect(await linesOf('2026-03')).toEqual([])
  })

  test('what a definition says of stored events is kept while a period is closed', async () => {
    const net: Rule = { id: 'net', kind: 'share', percent: '10', base: [{ event: 'Deposit' }] }
    const Deposit = { granularity: 'event', currency: 'EUR', outflow: false }
    const Bonus = { granularity: 'event', outflow: false }
    await casino([net], [{ customerId: 'p-1' }], { Deposit, Bonus })
    await askAdmin(`accounts/${ACCOUNT}`, 'PATCH', { amount_signs: 'signed' })
    const put = async (name: string, definition: object) =>
      (await askAdmin(`accounts/${ACCOUNT}/events/${name}`, 'PUT', definition)).status
    expect(await put('Deposit', { ...Deposit, status_member: 'state' })).toBe(200)
    expect(await put('Deposit', Deposit)).toBe(200)
    await env.DB.prepare(
      `insert into closed_periods (account, plan, period, closed_at) values (?, 'plan', '2026-02', 1)`,
    )
      .bind(ACCOUNT)
      .run()
    for (const change of [{ status_member: 'state' }, { outflow: true }, { currency: 'USD' }]) {
      expect(await put('Deposit', { ...Deposit, ...change }), JSON.stringify(change)).toBe(409)
    }
    const remove = askAdmin(`accounts/${ACCOUNT}/events/Deposit`, 'DELETE')
    expect((await remove).status).toBe(409)
    expect(await put('Deposit', { ...Deposit, kpis: ['Fee'] })).toBe(200)
    expect(await put('Bonus', { ...Bonus, currency: 'EUR' })).toBe(200)
    expect(await put('Other', { ...Bonus, status_member: 'state' })).toBe(201)
  })
})

describe('a deposit before the signup', () => {
  const sum: Rule = {
    ...cpa,
    qualify: [{ sum: [{ transactions: ['deposit'] }], min: '500', within_days: 30 }],
  }
  const early = paid('t1', 'c1', 'deposit', 500, '2026-03-01')

  test('pays a CPA if it is some seconds early', async () => {
    const acme = await firm('forex', monthly([sum], { currency: 'USD' }))
    await acme.post('customers', [customer('c1', '2026-03-01T10:00:02Z')])
    await acme.post('transactions', [early])
    expect(await linesOf('2026-03')).toEqual(['cpa 200.00'])
  })

  test('is named where it is too early', async () => {
    const acme = await firm('forex', monthly([sum], { currency: 'USD' }))
    await acme.post('customers', [customer('c1', '2026-03-03T10:00:00Z')])
    await acme.post('transactions', [early])
    const { data } = await admin('qualifications?period=2026-03')
    expect(data).toMatchObject([
      {
        status: 'waiting',
        before_signup: [
          { resource: 'transactions', id: 't1', day: early.transaction_date.slice(0, 10) },
        ],
      },
    ])
    const { state } = await admin('earnings?resource=transactions&id=t1')
    expect(state).toMatchObject({ reason: 'not_qualified', condition: 'before_signup' })
  })
})
