import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { REQUEST_LIMITS } from '../../src/commission/limits.ts'
import type { Rule } from '../../src/commission/plans/types.ts'
import { restoring } from '../limits.ts'
import { ada, ask, askAdmin, json, deposit as paidIn, partner } from '../partner.ts'
import { assign, draftsOf, monthly, publish, storePlan } from './stored.ts'
import { storeDrafts } from './stored-runs.ts'

restoring(REQUEST_LIMITS)

const customer = (customer_id: string) => ({ ...ada, customer_id, affiliate_id: 'ib-1' })

const deposit = (transaction_id: string, customer_id: string, amount: number, own = {}) => ({
  ...paidIn,
  ...{ transaction_id, customer_id, amount_currency: amount },
  transaction_date: '2026-10-05T10:00:00Z',
  ...own,
})

const share: Rule = {
  id: 'share',
  kind: 'share',
  percent: '30',
  base: [{ transactions: ['deposit'] }],
  when: { not_countries: ['FR'] },
}

const cpa: Rule = {
  id: 'cpa',
  kind: 'once',
  trigger: { transactions: ['deposit'], min: '100' },
  amount: '200.00',
  qualify: [
    { sum: [{ transactions: ['deposit'] }], min: '500', within_days: 30 },
    { count: { transactions: ['deposit'] }, min: 2 },
  ],
}

/** Creates a firm with a plan, two customers and their deposits of October. */
async function firm(account: string, rules = [share, cpa]) {
  const acme = await partner('forex', { account, affiliates: ['ib-1'], unknown_customer: 'hold' })
  await storePlan(account, 'standard', monthly(rules))
  await assign(account, 'standard')
  await acme.post('customers', [customer('c-1'), customer('c-2')])
  await acme.post('customers', [{ ...customer('c-3'), country_code: 'FR' }])
  await acme.post('transactions', [
    deposit('t-1', 'c-1', 1000),
    deposit('t-2', 'c-1', 134.5),
    deposit('t-3', 'c-2', 110, { currency: 'USD' }),
    deposit('t-4', 'c-2', 50, { status: 'pending' }),
    deposit('t-5', 'c-3', 400),
    deposit('t-6', 'nobody', 7),
    deposit('t-7', 'c-2', 1, { currency: 'XOF' }),
  ])
  await acme.post('trading-activity', [
    {
      ...{ date: '2026-10-06', customer_id: 'c-1', instrument: 'EURUSD', currency: 'USD' },
      ...{ lots_traded: 2, pnl: 5 },
    },
  ])
  const admin = (path: string) => askAdmin(`accounts/${account}/${path}`)
  await storeDrafts(account, '2026-10', ['ib-1'])
  const [draft] = await draftsOf(account, '2026-10', ['ib-1'])
  const lineOf = (rule: string) => draft!.lines.find((line) => line.rule === rule)!.id
  return { ...acme, admin, lineOf }
}

const rates = async () => {
  await publish('2026-10-02', { USD: '1.1' })
  await publish('2026-10-30', { USD: '1.2' })
}

const earnings = (id: string, resource = 'transactions') =>
  `earnings?${new URLSearchParams({ resource, id })}`

test('a line is explained in steps and in sentences, down to records and their deliveries', async () => {
  await rates()
  const acme = await firm('acme')
  const id = acme.lineOf('share')

  const explanation = await json(acme.admin(`lines/${id}/explain`))
  expect(explanation).toMatchObject({ id, affiliate_id: 'ib-1', plan: 'standard', currency: 'EUR' })
  expect(explanation.line).toMatchObject({ base: '1234.5', rate: '30', amount: '370.35' })
  expect(explanation.steps.map(({ step }: { step: string }) => step)).toEqual([
    ...['base', 'rate', 'rounding'],
  ])
  expect(explanation.steps[0].terms[0].currencies[1]).toEqual({
    ...{ currency: 'USD', count: 1, amount: '110', converted: '100', by_amount_usd: null },
    days: [
      {
        ...{ day: '2026-10-05', sums: 1, amount: '110', converted: '100' },
        rates: [{ currency: 'USD', rate: '1.1', day: '2026-10-02' }],
      },
    ],
  })

  const text = await ask(`/api/v1/forex/lines/${id}/explain`, {
    headers: { Authorization: `Bearer ${acme.access_token}`, Accept: 'text/plain' },
  })
  expect(text.headers.get('Content-Type')).toMatch(/^text\/plain/)
  expect((await text.text()).split('\n')).toEqual([
    'Rule share, version 1, standard, ib-1, October 2026',
    '',
    'Counted: 3 records of 2 customers.',
    'Deposits: 1,134.50 EUR (2 records) and 110.00 USD (1 record).',
    '110.00 USD (1 EUR = 1.1 USD, 2 Oct 2026) of 5 Oct 2026 is 100.00 EUR.',
    'This is paid on 1,234.50 EUR.',
    '30 % of 1,234.50 EUR is 370.35 EUR.',
    'The line pays 370.35 EUR.',
    '',
  ])

  const parts = await json(acme.admin(`lines/${id}/parts`))
  expect(parts.data).toEqual([
    { customer_id: 'c-1', records: 2, base: '1134.5', units: null },
    { customer_id: 'c-2', records: 1, base: '100', units: null },
  ])
  const records = await json(acme.admin(`lines/${id}/parts/c-2/facts`))
  expect(records.data).toEqual([
    {
      ...{ resource: 'transactions', id: 't-3', day: '2026-10-05', at: '2026-10-05T10:00:00.000Z' },
      ...{ type: 'deposit', currency: 'USD', amounts: { amount_currency: '110' }, base: '100' },
      ...{ units: null, delivery_id: expect.stringMatching(/^dlv_/) },
    },
  ])
})

test('§14 the records of a line are listed, whatever later ones need: here the rate of a later month', async () => {
  await rates()
  for (const day of ['2026-11-02', '2026-12-01']) await publish(day, { USD: '1.2' })
  const acme = await partner('forex', { affiliates: ['top', 'ib-1'] })
  await askAdmin('accounts/acme-forex/affiliates', 'PUT', [
    { affiliate_id: 'ib-1', parent: 'top', from: '2026-01-01' },
  ])
  const of = { base: [{ transactions: ['deposit' as const] }] }
  const up: Rule = { id: 'up', kind: 'override', level: 1, of, percent: '5', funded_by: 'downline' }
  await storePlan('acme-forex', 'top', monthly([up], { currency: 'USD' }))
  await storePlan('acme-forex', 'ib', monthly([cpa]))
  await assign('acme-forex', 'top', 'top')
  await assign('acme-forex', 'ib', 'ib-1')
  await acme.post('customers', [customer('c-1')])
  await acme.post('transactions', [
    deposit('t-1', 'c-1', 1000),
    deposit('t-2', 'c-1', 10),
    deposit('t-3', 'c-1', 10, { transaction_date: '2026-11-03T10:00:00Z' }),
  ])
  const [draft] = await draftsOf('acme-forex', '2026-10', ['top'])
  await storeDrafts('acme-forex', '2026-10', ['top', 'ib-1'])
  const { data } = await json(
    askAdmin(`accounts/acme-forex/lines/${draft!.lines[0]!.id}/parts/c-1/facts`),
  )
  expect(data).toMatchObject([{ id: 't-1' }, { id: 't-2' }])
  const { lines } = await json(askAdmin(`accounts/acme-forex/${earnings('t-1')}`))
  expect(lines.map(({ rule }: { rule: string }) => rule)).toEqual(['cpa', 'up'])
})

test('a qualification names the record that triggered it and each condition', async () => {
  await rates()
  const acme = await firm('acme')

  const { steps } = await json(acme.admin(`lines/${acme.lineOf('cpa')}/explain`))
  expect(steps[0].record).toMatchObject({ resource: 'transactions', id: 't-1', amount: '1000' })
  expect(steps[1].conditions).toMatchObject([
    { met_on: '2026-10-05', reached: '1134.5', min: '500', records_total: 2 },
    { met_on: '2026-10-05', reached: '2', min: '2', records_total: 2 },
  ])
  const found = await json(acme.get('qualifications?period=2026-10'))
  expect(found.data).toMatchObject([
    { customer_id: 'c-1', status: 'qualified', qualified_on: '2026-10-05' },
    { customer_id: 'c-2', status: 'waiting', missing: ['rate'] },
    {
      ...{ customer_id: 'c-3', status: 'failed', closed: { window: 'qualify/0' } },
      conditions: [
        { status: 'failed', reached: '400', missing: '100', until: '2026-10-31' },
        { status: 'open', reached: '1' },
      ],
    },
  ])
  const totalOf = async (filter: string) =>
    (await json(acme.get(`qualifications?period=2026-10&${filter}`))).meta.total
  expect(await totalOf('status=failed&rule=cpa')).toBe(1)
  expect(await totalOf('plan=standard')).toBe(3)
  expect(await totalOf('plan=other')).toBe(0)
  expect(await totalOf('affiliate_id=ib-1')).toBe(3)
  expect(await totalOf('affiliate_id=ib-2')).toBe(0)
})

test('a sum that must hold at the end of its window waits until then', async () => {
  const acme = await firm('acme')
  const sum = [{ transactions: ['deposit'] }]
  const qualify = [{ sum, min: '500', within_days: 40, at: 'end' as const }]
  await storePlan('acme', 'later', monthly([{ ...cpa, id: 'end', qualify }]))
  await assign('acme', 'later', 'ib-1')
  const statusIn = async (period: string) => {
    const path = `qualifications?period=${period}&customer_id=c-1&rule=end`
    const [{ status, missing, qualified_on, conditions }] = (await json(acme.get(path))).data
    return [status, missing, qualified_on, conditions[0].until]
  }
  expect(await statusIn('2026-10')).toEqual(['waiting', ['qualify/0'], null, '2026-11-10'])
  expect(await statusIn('2026-11')).toEqual(['qualified', [], '2026-11-10', null])
})

test('every record that earned nothing has its reason', async () => {
  await rates()
  const acme = await firm('acme')

  const { data, counted } = await json(acme.get('unearned?period=2026-10'))
  const reasons = data.map((one: Record<string, unknown>) =>
    [one.resource, one.reason, one.rule, one.condition, one.count].join(' '),
  )
  expect(reasons).toEqual([
    'transactions held   1',
    'transactions pending   1',
    'customers no_rule   3',
    'trading-activity no_rule   1',
    'transactions fx_missing share  1',
    'transactions not_qualified cpa qualify/0 1',
  ])
  const unqualified = (
    await json(acme.admin('unearned/facts?period=2026-10&reason=not_qualified'))
  ).data.find(({ id }: { id: string }) => id === 't-5')
  const far = { reason: 'not_qualified', condition: 'qualify/0', reached: '400', min: '500' }
  expect(unqualified).toMatchObject(far)
  expect(data.at(-1)).not.toHaveProperty('reached')
  expect((await json(acme.admin(earnings('t-5')))).state).toMatchObject(far)
  expect(counted).toMatchObject([
    { resource: 'transactions', currency: 'EUR', count: 2, sums: { amount_currency: '1134.5' } },
    { resource: 'transactions', currency: 'USD', count: 1, sums: { amount_currency: '110' } },
  ])
  const excluded = await json(acme.admin('unearned/facts?period=2026-10&reason=excluded'))
  expect(excluded.data).toMatchObject([
    { id: 't-5', rules: [{ rule: 'share', reason: 'excluded', condition: 'not_countries' }, {}] },
  ])
  const withoutRate = await json(acme.admin('unearned/facts?period=2026-10&reason=no_rate'))
  expect(withoutRate.data).toMatchObject([{ resource: 'transactions', reason: 'fx_missing' }])
  const ofCustomer = await json(acme.admin('unearned/facts?period=2026-10&customer_id=nobody'))
  expect(ofCustomer.data).toMatchObject([{ id: 't-6', reason: 'held' }])
  const ofAffiliate = await json(acme.get('unearned?period=2026-10&affiliate_id=ib-2'))
  expect(ofAffiliate.data).toEqual([])
})

test('a record says which lines count it, or why none does', async () => {
  await rates()
  const acme = await firm('acme')
  const share = acme.lineOf('share')

  const earned = await json(acme.admin(earnings('t-1')))
  expect(earned.state).toMatchObject({ reason: 'counted' })
  expect(earned.lines).toMatchObject([
    { rule: 'cpa', as: 'trigger', scope: 'customer:c-1', line_id: acme.lineOf('cpa') },
    { rule: 'share', as: 'base', base: '1000', line_id: share },
  ])
  expect(await json(acme.admin(earnings('t-6')))).toMatchObject({
    state: { reason: 'held' },
    lines: [],
  })
  expect(await json(acme.admin(earnings('c-1', 'customers')))).toMatchObject({
    state: { reason: 'no_rule' },
  })
  const key = '2026-10-06|c-1|EURUSD|USD'
  expect(await json(acme.admin(earnings(key, 'trading-activity')))).toMatchObject({
    state: { reason: 'no_rule' },
    id: key,
  })
})

test("another account's line and record are the 404 of a missing one, byte for byte", async () => {
  await rates()
  const first = await firm('first')
  const second = await firm('second', [share])
  await first.post('transactions', [deposit('only-first', 'c-1', 5)])
  await first.post('customers', [customer('c-first')])
  const missing = `lin_${'0'.repeat(40)}`
  const id = first.lineOf('cpa')
  const bytes = async (response: Response | Promise<Response>) => {
    const { request_id, ...body } = await json(response)
    return [(await response).status, body]
  }

  expect((await second.admin(`lines/${first.lineOf('share')}/explain`)).status).toBe(200)
  for (const path of ['explain', 'parts', 'parts/c-1/facts']) {
    const absent = await bytes(second.admin(`lines/${missing}/${path}`))
    expect(absent[0]).toBe(404)
    expect(await bytes(second.admin(`lines/${id}/${path}`))).toEqual(absent)
    expect(await bytes(second.admin(`lines/nothing/${path}`))).toEqual(absent)
  }
  expect(await bytes(second.get(`lines/${id}/explain`))).toEqual(
    await bytes(second.get(`lines/${missing}/explain`)),
  )
  expect(await bytes(second.admin(earnings('only-first')))).toEqual(
    await bytes(second.admin(earnings('nowhere'))),
  )
  expect(await bytes(second.admin(earnings('c-first', 'customers')))).toEqual(
    await bytes(second.admin(earnings('nobody', 'customers'))),
  )
  const { data } = await json(second.get('qualifications?period=2026-10'))
  expect(data.map(({ customer_id }: { customer_id: string }) => customer_id)).not.toContain(
    'c-first',
  )
})

test('a wrong query is 400 and named', async () => {
  const acme = await firm('acme')
  for (const [path, name] of [
    ['unearned', 'period'],
    ['unearned?period=2026-13', 'period'],
    ['unearned?period=2026-10&reason=late', 'reason'],
    ['qualifications?period=2026-10&status=late', 'status'],
    ['qualifications?period=2026-10&cursor=x', 'cursor'],
    ['earnings?resource=clicks&id=x', 'resource'],
    ['earnings?resource=activities', 'id'],
  ] as const) {
    const response = await acme.admin(path)
    const { detail } = await json(response)
    expect([path, response.status, detail]).toEqual([
      ...[path, 400],
      expect.stringContaining(`\`${name}\``),
    ])
  }
})

test('more than 50,000 records are refused, and narrowed they are read', async () => {
  expect(REQUEST_LIMITS.facts).toBe(50_000)
  REQUEST_LIMITS.facts = 500
  await rates()
  // Without a `once` rule, lines are computed from sums of records, which count as many.
  const acme = await firm('acme', [share])
  await env.DB.prepare(
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < 500)
     insert into transactions (account, transaction_id, customer_id, transaction_type,
       amount_currency, currency, transaction_date, status, day, held, delivery, idx, revision)
     select 'acme', 'x-' || i, 'c-2', 'deposit', 1, 'EUR', 0, 'approved', 20728, 0, 'dlv_1', 0, 1
     from n`,
  ).run()
  const refuses = async (path: string) => {
    const refused = await acme.admin(path)
    expect([path, refused.status]).toEqual([path, 422])
    expect((await json(refused)).detail).toContain(
      'more records than one request can read (500). Narrow it with `customer_id`',
    )
  }
  for (const path of [
    'unearned?period=2026-10',
    'unearned/facts?period=2026-10',
    `lines/${acme.lineOf('share')}/parts`,
    `lines/${acme.lineOf('share')}/parts/c-2/facts`,
    earnings('x-1'),
  ]) {
    await refuses(path)
  }
  await storePlan('acme', 'other', monthly([cpa]))
  await refuses('qualifications?period=2026-10')
  await refuses(earnings('c-2', 'customers'))
  expect((await acme.admin('unearned?period=2026-10&customer_id=c-1')).status).toBe(200)
  expect((await acme.admin('qualifications?period=2026-10&customer_id=c-1')).status).toBe(200)
  expect((await acme.admin(earnings('t-1'))).status).toBe(200)
})

test('a line is explained as its statement has it, and its parts are those of now', async () => {
  await rates()
  const acme = await firm('acme')
  const read = (path: string) => json(acme.admin(`lines/${acme.lineOf('share')}/${path}`))
  const base = async () => {
    const { data } = await read('parts')
    return data.find((one: { customer_id: string }) => one.customer_id === 'c-1')?.base
  }
  const [drafted, before] = [await read('explain'), await base()]
  await acme.post('transactions', [deposit('t-1', 'c-1', 2000)])
  expect(await read('explain')).toEqual(drafted)
  expect(await base()).not.toBe(before)
  await storeDrafts('acme', '2026-10', ['ib-1'])
  expect((await read('explain')).line.amount).toBe('670.35')
})

test('the steps of a drafted line follow records that leave its amount as it was', async () => {
  const acme = await firm('acme')
  const id = acme.lineOf('share')
  const counted = async () => (await json(acme.admin(`lines/${id}/explain`))).steps[0].records
  expect(await counted()).toBe(2)
  await acme.post('transactions', [deposit('t-1', 'c-1', 900), deposit('t-9', 'c-1', 100)])
  await storeDrafts('acme', '2026-10', ['ib-1'])
  expect(await counted()).toBe(3)
})
