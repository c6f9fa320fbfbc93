import { env } from 'cloudflare:workers'
import { expect, test, vi } from 'vitest'
import type { Rule } from '../../src/commission/engine/plan.ts'
import { addCause, joinCauses, noCauses } from '../../src/commission/statements/cause-list.ts'
import { signedIn } from '../console/browser.ts'
import { digestOfRecords, storeCases, storeFinding, storeRule } from '../fraud/stored-cases.ts'
import { askAdmin, json, traded } from '../partner.ts'
import {
  ACCOUNT,
  adjustmentsOf,
  approve,
  closePeriod,
  customer,
  firm,
  PATH,
  refresh,
  storedStatement,
  TENTH,
} from './closed.ts'
import { assign, monthly, publish, storePlan } from './stored.ts'

const ONE = { causes_total: 1 }

/** Closes August with a deposit of 100. */
async function closeAugust(rules?: Rule[]) {
  const acme = await firm(rules)
  await acme.paid('t-1', '2026-08-10', 100)
  await refresh('2026-08', ['aff-7', 'aff-8', 'aff-9'])
  await approve('2026-08')
  return acme
}

const record = (id: string, day: string, delivery_id: string) => ({
  ...{ kind: 'record', resource: 'transactions', id, customer_id: 'c-1', day, delivery_id },
})

test('a late record and a changed one are causes, with their deliveries', async () => {
  const { paid } = await closeAugust()
  await paid('t-9', '2026-09-01', 70)
  const late = await paid('t-2', '2026-08-11', 30)
  const changed = await paid('t-1', '2026-08-10', 110)
  expect(await adjustmentsOf('2026-09')).toMatchObject([
    {
      causes: [record('t-1', '2026-08-10', changed), record('t-2', '2026-08-11', late)],
      causes_total: 2,
    },
  ])
})

test('a record that was declined is a cause', async () => {
  const { paid } = await closeAugust()
  const declined = await paid('t-1', '2026-08-10', 100, { status: 'declined' })
  expect(await adjustmentsOf('2026-09')).toMatchObject([
    { ...ONE, amount: '-10.00', causes: [record('t-1', '2026-08-10', declined)] },
  ])
})

test('a record that moved to another period is a cause, other records of that period are not', async () => {
  const { paid } = await closeAugust()
  await paid('t-3', '2026-09-12', 50)
  const moved = await paid('t-1', '2026-09-12', 100)
  const late = await paid('t-2', '2026-08-11', 30)
  expect(await adjustmentsOf('2026-09')).toMatchObject([
    {
      amount: '-7.00',
      causes: [record('t-2', '2026-08-11', late), record('t-1', '2026-09-12', moved)],
      causes_total: 2,
    },
  ])
})

test('a correction of a correction names what changed since the last approval', async () => {
  const { paid } = await closeAugust()
  await paid('t-1', '2026-08-10', 40)
  await refresh('2026-09')
  await approve('2026-09')
  const again = await paid('t-2', '2026-08-12', 10)
  expect(await adjustmentsOf('2026-10')).toMatchObject([
    { ...ONE, amount: '1.00', causes: [record('t-2', '2026-08-12', again)] },
  ])
})

test('a run that changes nothing stores nothing', async () => {
  const { paid } = await closeAugust()
  await paid('t-2', '2026-08-11', 30)
  expect(await refresh('2026-09')).toBe(1)
  expect(await refresh('2026-09')).toBe(0)
})

test('at most 20 causes are listed, and all are counted', async () => {
  const { post } = await closeAugust()
  const rows = Array.from({ length: 30 }, (_, i) => ({
    ...{ transaction_id: `t-${100 + i}`, transaction_date: '2026-08-11T10:00:00Z' },
    ...{ customer_id: 'c-1', transaction_type: 'deposit', amount_currency: 1, currency: 'EUR' },
    status: 'approved',
  }))
  expect((await post('transactions', rows)).status).toBe(200)
  const [{ causes, causes_total }] = await adjustmentsOf('2026-09')
  expect(causes_total).toBe(30)
  expect(causes.map(({ id }: { id: string }) => id)).toEqual(
    rows.slice(0, 20).map((row) => row.transaction_id),
  )
})

test('a record that no rule names is not a cause', async () => {
  const { paid } = await closeAugust()
  await paid('t-5', '2026-08-11', 30, { transaction_type: 'withdrawal' })
  const late = await paid('t-2', '2026-08-11', 30)
  expect(await adjustmentsOf('2026-09')).toMatchObject([
    { ...ONE, causes: [record('t-2', '2026-08-11', late)] },
  ])
})

test('a record that moved to a customer of another affiliate is a cause', async () => {
  const { paid, post } = await firm()
  await post('customers', [{ ...customer('c-8'), affiliate_id: 'aff-8' }])
  await paid('t-1', '2026-08-10', 100)
  await refresh('2026-08')
  await approve('2026-08')
  const moved = await paid('t-1', '2026-08-10', 100, { customer_id: 'c-8' })
  expect(await adjustmentsOf('2026-09')).toMatchObject([
    { ...ONE, causes: [{ ...record('t-1', '2026-08-10', moved), customer_id: 'c-8' }] },
  ])
})

test('records that were held until their customer came have the customer as cause', async () => {
  const { paid, post } = await firm()
  await askAdmin(PATH, 'PATCH', { unknown_customer: 'hold' })
  await paid('t-6', '2026-08-20', 50, { customer_id: 'c-6' })
  await paid('t-1', '2026-08-20', 10)
  await refresh('2026-08')
  await approve('2026-08')
  const { delivery_id } = await json(post('customers', [customer('c-6')]))
  expect(await adjustmentsOf('2026-09')).toMatchObject([
    {
      ...{ ...ONE, amount: '5.00' },
      causes: [{ kind: 'record', resource: 'customers', id: 'c-6', delivery_id }],
    },
  ])
})

test('a customer whose records were held is one of several causes, also after another change', async () => {
  const { paid, post } = await firm()
  await askAdmin(PATH, 'PATCH', { unknown_customer: 'hold' })
  await paid('t-6', '2026-08-20', 50, { customer_id: 'c-6' })
  await paid('t-1', '2026-08-20', 10)
  await refresh('2026-08')
  await approve('2026-08')
  await post('customers', [customer('c-6')])
  const { delivery_id } = await json(post('customers', [{ ...customer('c-6'), lang_id: 'de' }]))
  // The records of this one came later, so that they are the cause.
  await post('customers', [customer('c-7')])
  const late = await paid('t-7', '2026-08-21', 10, { customer_id: 'c-7' })
  expect(await adjustmentsOf('2026-09')).toMatchObject([
    {
      amount: '6.00',
      causes: [
        { kind: 'record', resource: 'customers', id: 'c-6', delivery_id },
        { ...record('t-7', '2026-08-21', late), customer_id: 'c-7' },
      ],
      causes_total: 2,
    },
  ])
})

test('a late day of trading is a cause', async () => {
  const { post } = await closeAugust([
    { id: 'lots', kind: 'unit', unit: { activity: 'lots_traded' }, amount: '5.00' },
  ])
  await post('trading-activity', [{ ...traded, date: '2026-08-02' }])
  await refresh('2026-08')
  await approve('2026-08')
  await post('trading-activity', [{ ...traded, date: '2026-08-03' }])
  expect(await adjustmentsOf('2026-09')).toMatchObject([
    {
      ...ONE,
      causes: [{ kind: 'record', resource: 'trading-activity', id: '2026-08-03|c-1|EURUSD|USD' }],
    },
  ])
})

const MONTH = new Date().toISOString().slice(0, 7)
const NEXT = new Date(Date.UTC(Number(MONTH.slice(0, 4)), Number(MONTH.slice(5)), 1))
  .toISOString()
  .slice(0, 7)

/** Closes this month with a deposit of today. Changes of customers that are received take effect today. */
async function closedToday(rule: Rule, fields: object = {}) {
  const acme = await firm([rule])
  await acme.post('customers', [{ ...customer('c-1'), country_code: 'DE', ...fields }])
  await acme.paid('t-1', new Date().toISOString().slice(0, 10), 100)
  await refresh(MONTH)
  await approve(MONTH)
  return acme
}

test('another affiliate of a customer is a cause', async () => {
  const { post } = await closedToday(TENTH)
  const { delivery_id } = await json(
    post('customers', [{ ...customer('c-1'), country_code: 'DE', affiliate_id: 'aff-8' }]),
  )
  expect(await adjustmentsOf(NEXT)).toMatchObject([
    {
      ...ONE,
      amount: '-10.00',
      causes: [{ kind: 'affiliation', customer_id: 'c-1', delivery_id }],
    },
  ])
})

test('a changed field of a customer is a cause', async () => {
  const { post } = await closedToday({ ...TENTH, when: { countries: ['DE'] } })
  const { delivery_id } = await json(
    post('customers', [{ ...customer('c-1'), country_code: 'FR' }]),
  )
  const cause = { kind: 'customer_field', customer_id: 'c-1', field: 'country_code', delivery_id }
  expect(await adjustmentsOf(NEXT)).toMatchObject([{ ...ONE, amount: '-10.00', causes: [cause] }])
})

test('of two fields that a plan reads, only the one that changed is a cause', async () => {
  const when = { countries: ['DE'], not_kyc: ['refused'] }
  const { post } = await closedToday({ ...TENTH, when }, { kyc_status_id: 'done' })
  await post('customers', [{ ...customer('c-1'), country_code: 'FR', kyc_status_id: 'done' }])
  expect(await adjustmentsOf(NEXT)).toMatchObject([
    { ...ONE, causes: [{ kind: 'customer_field', field: 'country_code' }] },
  ])
})

test('a customer whose affiliates were corrected is a cause on both sides', async () => {
  await closeAugust()
  const affiliations = [{ from: null, affiliate_id: 'aff-8' }]
  await askAdmin(`${PATH}/customers/c-1/affiliations`, 'PUT', { reason: 'Wrong', affiliations })
  const cause = {
    ...{ kind: 'affiliation', customer_id: 'c-1', day: null, delivery_id: null },
    audit_id: expect.any(String),
  }
  expect(await adjustmentsOf('2026-09')).toMatchObject([
    { ...ONE, amount: '-10.00', causes: [cause] },
  ])
})

/** A customer of aff-7 who signed up in August. */
const august = (id: string) => ({ ...customer(id), signup_date: '2026-08-15T08:00:00.000Z' })

test('a late signup is a cause: the record of the customer', async () => {
  const { post } = await firm([
    { id: 'lead', kind: 'once', trigger: { signup: true }, amount: '20.00' },
  ])
  await post('customers', [august('c-2')])
  await refresh('2026-08')
  await approve('2026-08')
  await post('customers', [august('c-3')])
  expect(await adjustmentsOf('2026-09')).toMatchObject([
    {
      ...{ ...ONE, amount: '20.00' },
      causes: [{ kind: 'record', resource: 'customers', id: 'c-3', day: '2026-08-15' }],
    },
  ])
})

test('where a signup pays, other records of the customer are not likely causes', async () => {
  const { post, paid } = await firm([
    { id: 'lead', kind: 'once', trigger: { signup: true }, amount: '20.00' },
    { ...TENTH, base: [{ transactions: ['withdrawal'] }] } as Rule,
  ])
  await post('customers', [august('c-2')])
  await refresh('2026-08')
  await approve('2026-08')
  const { delivery_id } = await json(post('customers', [august('c-3')]))
  await paid('t-1', '2026-08-16', 10, { customer_id: 'c-3' })
  expect(await adjustmentsOf('2026-09')).toMatchObject([
    { ...ONE, rule: 'lead', causes: [{ resource: 'customers', id: 'c-3', delivery_id }] },
  ])
})

test('a refusal and its end are causes', async () => {
  await closeAugust()
  await askAdmin(`${PATH}/customers/c-1/refusal`, 'PUT', { reason: 'Fraud' })
  const cause = { kind: 'refusal', customer_id: 'c-1' }
  expect(await adjustmentsOf('2026-09')).toMatchObject([{ ...ONE, causes: [cause] }])
  await approve('2026-09')
  await askAdmin(`${PATH}/customers/c-1/refusal`, 'DELETE')
  expect(await adjustmentsOf('2026-10')).toMatchObject([
    { ...ONE, amount: '10.00', causes: [cause] },
  ])
})

test('a case and the payouts say what is taken back of refused customers, until that is approved', async () => {
  await closeAugust()
  await refresh('2026-09')
  await storeRule(ACCOUNT)
  await storeFinding(20_700, [['t-1', 'c-1']], { affiliate: 'aff-7', account: ACCOUNT })
  const digest = await digestOfRecords(['t-1'])
  await storeCases({ id: 'case_1', account: ACCOUNT, affiliate: 'aff-7', digest, lastDay: 20_700 })
  const page = async (path: string) => {
    const response = await (await signedIn()).get(`/console/accounts/${ACCOUNT}/${path}`)
    return (await response.text()).replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')
  }
  const words = /10\.00 EUR will be taken back in September 2026/
  expect(await page('cases/case_1')).not.toMatch(words)
  const decision = { decision: 'confirmed', reason: 'One device', refuse: ['c-1'] }
  expect((await askAdmin(`${PATH}/cases/case_1/decide`, 'POST', decision)).status).toBe(200)
  // The draft is computed for the page: the next run stores it so.
  expect(await page('cases/case_1')).toMatch(words)
  const takenBack = async () => (await json(askAdmin(`${PATH}/payouts`))).data[0]?.taken_back
  expect(await takenBack()).toEqual([])
  await refresh('2026-09')
  expect(await takenBack()).toMatchObject([{ period: '2026-09', amount: '-10.00' }])
  expect(await page('payouts')).toMatch(words)
  await approve('2026-09')
  await refresh('2026-10')
  expect(await page('cases/case_1')).not.toMatch(words)
})

test('causes of one kind are in the order of their days, those of all days first', () => {
  const list = noCauses()
  for (const day of ['2026-08-02', null, '2026-08-01']) {
    const ids = { customer_id: 'c-1', delivery_id: null, audit_id: null }
    addCause(list, { kind: 'affiliation', day, ...ids })
  }
  const { causes } = joinCauses([list])
  expect(causes.map((cause) => 'day' in cause && cause.day)).toEqual([
    null,
    '2026-08-01',
    '2026-08-02',
  ])
})

test('a rate that was published later is a cause', async () => {
  const { paid } = await firm()
  await paid('t-1', '2026-08-10', 100, { currency: 'USD' })
  await refresh('2026-08')
  await approve('2026-08')
  await publish('2026-08-10', { USD: '2', GBP: '1' }, Date.now())
  expect(await adjustmentsOf('2026-09')).toMatchObject([
    {
      ...{ ...ONE, amount: '5.00' },
      causes: [{ kind: 'rate', currency: 'USD', day: '2026-08-10', change: 'published' }],
    },
  ])
})

test('of the rates that are published later, only those that a record uses are causes', async () => {
  const { paid } = await firm()
  await publish('2026-08-20', { USD: '2' })
  await paid('t-1', '2026-08-05', 100, { currency: 'USD' })
  await paid('t-2', '2026-08-20', 100, { currency: 'USD' })
  await refresh('2026-08')
  await approve('2026-08')
  for (const day of ['2026-08-03', '2026-08-04']) await publish(day, { USD: '4' }, Date.now())
  expect(await adjustmentsOf('2026-09')).toMatchObject([
    {
      ...{ ...ONE, amount: '2.50' },
      causes: [{ kind: 'rate', currency: 'USD', day: '2026-08-04', change: 'published' }],
    },
  ])
})

test('a rate of the last day of a closed period that was corrected later changes nothing', async () => {
  const { paid } = await firm()
  await publish('2026-08-31', { USD: '2' })
  await paid('t-1', '2026-08-31', 100, { currency: 'USD' })
  await refresh('2026-08')
  await approve('2026-08')
  await correct('2026-08-31', '4')
  await paid('t-9', '2026-09-01', 70)
  expect(await adjustmentsOf('2026-09')).toEqual([])
})

/** Replaces the rate of the dollar on a day. */
async function correct(day: string, rate: string, now = Date.now()) {
  await env.DB.prepare(`update fx_rates set known_until = ?1 where currency = 'USD' and day = ?2`)
    .bind(now, Date.parse(day) / 86_400_000)
    .run()
  await publish(day, { USD: rate }, now)
}

test.each([
  ['before', 1],
  ['in the millisecond of', 0],
])(
  'a rate that was corrected after a computation and %s its approval is a cause',
  async (_, ms) => {
    const { paid } = await firm()
    await publish('2026-08-10', { USD: '2' })
    await publish('2026-08-11', { USD: '2' })
    await paid('t-1', '2026-08-10', 100, { currency: 'USD' })
    await refresh('2026-08')
    const now = Date.now()
    await correct('2026-08-10', '4', now)
    await approve('2026-08', now + ms)
    await correct('2026-08-11', '4')
    expect(await adjustmentsOf('2026-09')).toMatchObject([
      {
        ...{ ...ONE, amount: '-2.50' },
        causes: [{ kind: 'rate', currency: 'USD', day: '2026-08-10', change: 'corrected' }],
      },
    ])
  },
)

test('only rates that a record of the line uses are causes', async () => {
  const { paid } = await firm()
  await publish('2026-08-03', { USD: '2', GBP: '1' }, Date.now())
  await paid('t-0', '2026-08-03', 100, { currency: 'USD' })
  await paid('t-1', '2026-08-15', 100, { currency: 'USD' })
  await paid('t-3', '2026-08-20', 1, { currency: 'GBP', transaction_type: 'withdrawal' })
  await refresh('2026-08')
  await approve('2026-08')
  const now = Date.now()
  await publish('2026-08-14', { USD: '2', GBP: '1' }, now)
  await publish('2026-08-17', { USD: '2', GBP: '1' }, now)
  await publish('2026-08-25', { USD: '2', GBP: '1' }, now)
  await correct('2026-08-03', '4')
  const late = await paid('t-2', '2026-08-15', 10)
  expect(await adjustmentsOf('2026-09')).toMatchObject([
    {
      ...{ amount: '6.00', causes_total: 2 },
      causes: [
        record('t-2', '2026-08-15', late),
        { kind: 'rate', currency: 'USD', day: '2026-08-14', change: 'published' },
      ],
    },
  ])
})

test('a rate of the dollar that was published later is a cause for the pnl of trading', async () => {
  const rule: Rule = { id: 'pnl', kind: 'share', percent: '10', base: [{ activity: 'pnl' }] }
  const { post } = await firm([rule])
  await post('trading-activity', [{ ...traded, customer_id: 'c-1', date: '2026-08-10', pnl: 100 }])
  await refresh('2026-08')
  await approve('2026-08')
  await publish('2026-08-10', { USD: '2', GBP: '1' }, Date.now())
  expect(await adjustmentsOf('2026-09')).toMatchObject([
    {
      amount: '5.00',
      causes: [{ kind: 'rate', currency: 'USD', day: '2026-08-10', change: 'published' }],
    },
  ])
})

test('the rate of a later day is a cause for a day that waited for it, also beside a late record', async () => {
  const { paid } = await firm()
  await publish('2026-08-28', { USD: '2' }, Date.now())
  await paid('t-1', '2026-08-30', 100, { currency: 'USD' })
  await refresh('2026-08')
  await approve('2026-08')
  await publish('2026-08-31', { USD: '3' }, Date.now())
  const rate = { kind: 'rate', currency: 'USD', day: '2026-08-31', change: 'published' }
  expect(await adjustmentsOf('2026-09')).toMatchObject([{ ...ONE, amount: '5.00', causes: [rate] }])
  const late = record('t-2', '2026-08-15', await paid('t-2', '2026-08-15', 10))
  expect(await adjustmentsOf('2026-09')).toMatchObject([{ amount: '6.00', causes: [late, rate] }])
})

test('a changed status map is a cause', async () => {
  const { paid } = await firm()
  await paid('t-1', '2026-08-10', 100, { status: 'settled' })
  await paid('t-2', '2026-08-10', 100)
  await refresh('2026-08')
  await approve('2026-08')
  await askAdmin(`${PATH}/status-map`, 'PUT', { settled: 'approved' })
  expect(await adjustmentsOf('2026-09')).toMatchObject([
    { ...ONE, amount: '10.00', causes: [{ kind: 'setting', action: 'status.put' }] },
  ])
})

test('assignments that changed between a computation and its approval are a cause', async () => {
  const { paid } = await firm()
  await paid('t-1', '2026-08-10', 100)
  await refresh('2026-08')
  await storePlan(ACCOUNT, 'other', monthly([{ ...TENTH, id: 'fifth', percent: '20' } as Rule]))
  await askAdmin(`${PATH}/assignments`, 'PUT', [
    { affiliate_id: 'aff-7', plan: 'other', from: '2026-01-01', customers: 'all' },
  ])
  await approve('2026-08')
  expect(await adjustmentsOf('2026-09')).toMatchObject([
    { amount: '-10.00', causes: [{ kind: 'setting', action: 'assignments.put' }] },
  ])
})

test('an assignment of all affiliates is a cause, one of another affiliate is not', async () => {
  const { paid } = await firm()
  await paid('t-1', '2026-08-10', 100)
  await refresh('2026-08')
  await storePlan(ACCOUNT, 'other', monthly([{ ...TENTH, id: 'fifth', percent: '20' } as Rule]))
  const put = (affiliate_id: string) =>
    askAdmin(`${PATH}/assignments`, 'PUT', [
      { affiliate_id, plan: 'other', from: '2026-01-01', customers: 'all' },
    ])
  expect([(await put('*')).status, (await put('aff-8')).status]).toEqual([200, 200])
  await approve('2026-08')
  expect(await adjustmentsOf('2026-09')).toMatchObject([
    { amount: '-10.00', causes_total: 1, causes: [{ action: 'assignments.put' }] },
  ])
})

test("a new version of the affiliate's plan is a cause, one of another plan is not", async () => {
  const { paid } = await firm()
  await paid('t-1', '2026-08-10', 100)
  await refresh('2026-08')
  const fifth = { ...TENTH, percent: '20' } as Rule
  const put = (plan: string, effective_from: string) =>
    askAdmin(`${PATH}/plans/${plan}`, 'PUT', monthly([fifth], { effective_from }))
  const statuses = [await put('ib', '2026-01-02'), await put('other', '2026-01-02')]
  expect(statuses.map(({ ok }) => ok)).toEqual([true, true])
  await approve('2026-08')
  const own = { causes_total: 1, causes: [{ kind: 'setting', action: 'plan.put' }] }
  expect(await adjustmentsOf('2026-09')).toMatchObject([
    { amount: '20.00', version: 2, ...own },
    { amount: '-10.00', version: 1, ...own },
  ])
})

test('a deleted assignment of the affiliate is a cause, one of another affiliate is not', async () => {
  const { paid } = await firm()
  await storePlan(ACCOUNT, 'other', monthly([{ ...TENTH, id: 'fifth', percent: '20' } as Rule]))
  for (const affiliate of ['aff-7', 'aff-8']) await assign(ACCOUNT, 'other', affiliate)
  await paid('t-1', '2026-08-10', 100)
  await refresh('2026-08')
  for (const affiliate of ['aff-7', 'aff-8']) {
    const { data } = await json(askAdmin(`${PATH}/assignments?affiliate_id=${affiliate}`))
    const query = `affiliate_id=${affiliate}&from=${data[0].from}`
    expect((await askAdmin(`${PATH}/assignments?${query}`, 'DELETE')).ok).toBe(true)
  }
  await approve('2026-08')
  const own = { causes_total: 1, causes: [{ kind: 'setting', action: 'assignment.delete' }] }
  expect(await adjustmentsOf('2026-09')).toMatchObject([{ amount: '-20.00', ...own }])
})

test('late records of two closed periods are each a cause of the adjustment of their period', async () => {
  const { paid } = await firm()
  for (const period of ['2026-08', '2026-09']) {
    await paid(`of ${period}`, `${period}-10`, 100)
    await refresh(period)
    await approve(period)
  }
  const first = await paid('t-1', '2026-08-12', 100)
  const second = await paid('t-2', '2026-09-12', 100)
  expect(await adjustmentsOf('2026-10')).toMatchObject([
    { of: { period: '2026-08' }, causes: [record('t-1', '2026-08-12', first)] },
    { of: { period: '2026-09' }, causes: [record('t-2', '2026-09-12', second)] },
  ])
})

/** Changes the amount of a transaction without a delivery. */
const changeAmount = (id: string, amount: number) =>
  env.DB.prepare('update transactions set amount_currency = ?2 where transaction_id = ?1')
    .bind(id, amount)
    .run()

test('a change without a likely cause names the other changes of its customer and period', async () => {
  const { paid, post } = await firm()
  await paid('t-1', '2026-08-10', 100)
  await paid('t-9', '2026-09-10', 100)
  for (const period of ['2026-08', '2026-09']) {
    await refresh(period)
    await approve(period)
  }
  await changeAmount('t-1', 50)
  const { delivery_id } = await json(post('customers', [{ ...customer('c-1'), lang_id: 'de' }]))
  const late = await paid('t-2', '2026-09-12', 100)
  expect(await adjustmentsOf('2026-10')).toMatchObject([
    { of: { period: '2026-08' }, ...ONE, causes: [{ resource: 'customers', delivery_id }] },
    { of: { period: '2026-09' }, ...ONE, causes: [record('t-2', '2026-09-12', late)] },
  ])
})

test('a delivery of the last 10 minutes before a computation is possibly stored late', async () => {
  const { paid, post } = await firm()
  await post('customers', [{ ...customer('c-8'), affiliate_id: 'aff-8' }])
  const now = Date.now()
  const setMinute = (minute: number) => vi.setSystemTime(now + minute * 60_000)
  vi.useFakeTimers({ toFake: ['Date'], now })
  await paid('t-8', '2026-08-10', 100, { customer_id: 'c-8' })
  setMinute(1)
  await refresh('2026-08', ['aff-8'])
  await approve('2026-08')
  await paid('t-1', '2026-08-10', 100)
  setMinute(12)
  const recent = await paid('t-2', '2026-08-11', 100)
  setMinute(21)
  await refresh('2026-08')
  await approve('2026-08')
  await changeAmount('t-1', 50)
  await changeAmount('t-2', 50)
  const late = await paid('t-9', '2026-08-12', 100, { customer_id: 'c-8' })

  await refresh('2026-09', ['aff-7', 'aff-8'])
  const { adjustments } = await storedStatement('2026-09', 'aff-7')
  expect(adjustments).toMatchObject([{ causes: [record('t-2', '2026-08-11', recent)] }])
  const others = await storedStatement('2026-09', 'aff-8')
  expect(others.adjustments).toMatchObject([{ causes: [{ id: 't-9', delivery_id: late }] }])
})

test('a share that recoups a CPA names the record that triggered the CPA', async () => {
  const cpa: Rule = {
    ...{ id: 'cpa', kind: 'once', trigger: { transactions: ['withdrawal'] }, amount: '10' },
  }
  const { paid } = await firm([cpa, { ...TENTH, recoups: 'cpa' } as Rule])
  const withdraw = (status: string) =>
    paid('t-2', '2026-08-11', 100, { transaction_type: 'withdrawal', status })
  await paid('t-1', '2026-08-10', 500)
  await withdraw('approved')
  await refresh('2026-08')
  await approve('2026-08')
  const trigger = record('t-2', '2026-08-11', await withdraw('declined'))
  const late = record('t-3', '2026-08-12', await paid('t-3', '2026-08-12', 100))
  expect(await adjustmentsOf('2026-09')).toMatchObject([
    { rule: 'tenth', amount: '20.00', causes: [trigger, late] },
    { rule: 'cpa', amount: '-10.00', causes: [trigger] },
  ])
})

const MASTER: Rule = {
  ...{ id: 'master', kind: 'override', level: 1, of: { lines: ['share'] }, percent: '10' },
}

test('an override names the records of the affiliate below, and changes of the tree', async () => {
  const { paid } = await firm([TENTH, MASTER])
  const parent = (affiliate_id: string, from = '2026-01-01') =>
    askAdmin(`${PATH}/affiliates`, 'PUT', [{ affiliate_id, parent: 'aff-8', from }])
  await parent('aff-7')
  await paid('t-1', '2026-08-10', 100)
  await refresh('2026-08', ['aff-7', 'aff-8'])
  await approve('2026-08')
  const late = await paid('t-2', '2026-08-11', 100)
  expect(await adjustmentsOf('2026-09', 'aff-8')).toMatchObject([
    {
      ...ONE,
      scope: 'affiliate:aff-7',
      amount: '1.00',
      causes: [record('t-2', '2026-08-11', late)],
    },
  ])
  await approve('2026-09')
  await askAdmin(`${PATH}/affiliates`, 'PUT', [
    { affiliate_id: 'aff-7', parent: 'aff-9', from: '2026-01-01' },
  ])
  expect(await adjustmentsOf('2026-10', 'aff-8')).toMatchObject([
    { ...ONE, amount: '-2.00', causes: [{ kind: 'tree', affiliate_id: 'aff-7' }] },
  ])
})

test('an override in another currency names the rate of the last day, which converts its lines', async () => {
  const { paid } = await firm()
  await storePlan(ACCOUNT, 'up', monthly([MASTER], { currency: 'USD' }))
  await assign(ACCOUNT, 'up', 'aff-8')
  await askAdmin(`${PATH}/affiliates`, 'PUT', [
    { affiliate_id: 'aff-7', parent: 'aff-8', from: '2026-01-01' },
  ])
  await paid('t-1', '2026-08-10', 100)
  await refresh('2026-08', ['aff-7', 'aff-8'])
  await approve('2026-08')
  await publish('2026-08-20', { USD: '3' }, Date.now())
  await publish('2026-08-31', { USD: '2' }, Date.now())
  expect(await adjustmentsOf('2026-09', 'aff-8')).toMatchObject([
    {
      ...{ ...ONE, amount: '2.00' },
      causes: [{ kind: 'rate', currency: 'USD', day: '2026-08-31', change: 'published' }],
    },
  ])
})

test('an override for CPAs of the affiliate below names the record of the CPA', async () => {
  const cpa: Rule = {
    ...{ id: 'cpa', kind: 'once', trigger: { transactions: ['deposit'] }, amount: '50.00' },
  }
  const other: Rule = { ...cpa, id: 'other', trigger: { transactions: ['withdrawal'] } }
  const master: Rule = {
    ...{ id: 'master', kind: 'override', level: 1, of: { once: 'cpa' }, amount: '5.00' },
  }
  const { paid } = await firm([cpa, other, master])
  await askAdmin(`${PATH}/affiliates`, 'PUT', [
    { affiliate_id: 'aff-7', parent: 'aff-8', from: '2026-01-01' },
  ])
  const withdraw = (status: string) =>
    paid('t-1', '2026-08-10', 100, { transaction_type: 'withdrawal', status })
  await withdraw('approved')
  await paid('t-2', '2026-08-11', 100)
  await refresh('2026-08', ['aff-7', 'aff-8'])
  await approve('2026-08')
  await withdraw('declined')
  const late = await paid('t-2', '2026-08-11', 100, { status: 'declined' })
  expect(await adjustmentsOf('2026-09', 'aff-8')).toMatchObject([
    { amount: '-5.00', causes_total: 1, causes: [record('t-2', '2026-08-11', late)] },
  ])
})

const ONCE: Rule = {
  ...{ id: 'cpa', kind: 'once', trigger: { transactions: ['deposit'] }, amount: '50.00' },
  qualify: [{ sum: [{ transactions: ['deposit'] }], min: '150' }],
}

test('a line of one customer names the records of that customer, of any day', async () => {
  const { paid, post } = await closeAugust([ONCE])
  await post('customers', [customer('c-2')])
  await paid('t-3', '2026-08-12', 200, { customer_id: 'c-2' })
  await refresh('2026-08')
  await approve('2026-08')
  await paid('t-8', '2026-08-12', 10, { customer_id: 'c-2' })
  const late = await paid('t-0', '2026-07-30', 60)
  const [one] = await adjustmentsOf('2026-09')
  expect(one).toMatchObject({
    ...{ ...ONE, scope: 'customer:c-1', amount: '50.00' },
    causes: [record('t-0', '2026-07-30', late)],
  })
})

test('a trigger that moved to another customer is one of several causes', async () => {
  const { paid, post } = await firm([
    {
      id: 'cpa',
      kind: 'once',
      trigger: { transactions: ['deposit'], min: '100' },
      amount: '50.00',
    },
  ])
  await post('customers', [customer('c-2')])
  await paid('t-1', '2026-08-10', 100)
  await refresh('2026-08')
  await approve('2026-08')
  const moved = await paid('t-1', '2026-08-10', 100, { customer_id: 'c-2' })
  const other = await paid('t-5', '2026-08-11', 5)
  const trigger = { ...record('t-1', '2026-08-10', moved), customer_id: 'c-2' }
  expect(await adjustmentsOf('2026-09')).toMatchObject([
    { scope: 'customer:c-2', amount: '50.00', ...ONE, causes: [trigger] },
    {
      ...{ scope: 'customer:c-1', amount: '-50.00', causes_total: 2 },
      causes: [trigger, record('t-5', '2026-08-11', other)],
    },
  ])
})

test('the restoration of a dropped amount has the causes of its corrections', async () => {
  const { paid } = await firm(
    [
      {
        ...{ id: 'net', kind: 'share', percent: '10' },
        base: [{ transactions: ['deposit'] }, { transactions: ['withdrawal'], times: '-1' }],
      },
    ],
    { negative: 'zero' },
  )
  await paid('t-1', '2026-08-10', 100, { transaction_type: 'withdrawal' })
  await refresh('2026-08')
  await approve('2026-08')
  const late = await paid('t-2', '2026-08-11', 30)
  const causes = [record('t-2', '2026-08-11', late)]
  expect(await adjustmentsOf('2026-09')).toMatchObject([
    { ...ONE, amount: '3.00', causes },
    { ...ONE, amount: '-3.00', of: { line: null }, causes },
  ])
})

test('a record that was on its way when the statement was computed is a cause', async () => {
  const { paid } = await firm()
  await paid('t-1', '2026-08-10', 100)
  await refresh('2026-08')
  const late = await paid('t-2', '2026-08-11', 30)
  await approve('2026-08')
  expect(await adjustmentsOf('2026-09')).toMatchObject([
    { ...ONE, causes: [record('t-2', '2026-08-11', late)] },
  ])
})

test('a changed carry is an adjustment of the line that it changes, with the record of the period before', async () => {
  const { paid } = await firm([
    {
      ...{ id: 'net', kind: 'share', percent: '10', negative: 'carry' },
      base: [{ transactions: ['deposit'] }, { transactions: ['withdrawal'], times: '-1' }],
    },
  ])
  await paid('t-1', '2026-08-10', 100, { transaction_type: 'withdrawal' })
  await paid('t-2', '2026-09-10', 300)
  await refresh('2026-09')
  await approve('2026-09')
  const changed = await paid('t-1', '2026-08-10', 60, { transaction_type: 'withdrawal' })
  expect(await adjustmentsOf('2026-10')).toMatchObject([
    {
      ...{ ...ONE, amount: '4.00', of: { period: '2026-09' } },
      causes: [record('t-1', '2026-08-10', changed)],
    },
  ])
})

test('a new parent is not a cause of what an affiliate earns itself', async () => {
  const { paid } = await firm()
  await paid('t-1', '2026-08-10', 100)
  await refresh('2026-08')
  await approve('2026-08')
  await askAdmin(`${PATH}/affiliates`, 'PUT', [
    { affiliate_id: 'aff-7', parent: 'aff-9', from: '2026-01-01' },
  ])
  const late = await paid('t-2', '2026-08-11', 100)
  expect(await adjustmentsOf('2026-09')).toMatchObject([
    { ...ONE, amount: '10.00', causes: [record('t-2', '2026-08-11', late)] },
  ])
})

test('the later configuration of an affiliate is a cause', async () => {
  const { paid, post } = await firm([TENTH, { ...TENTH, id: 'second' } as Rule])
  await post('customers', [{ ...customer('c-4'), affiliate_id: 'aff-new' }])
  await paid('t-1', '2026-08-10', 100)
  await paid('t-4', '2026-08-10', 100, { customer_id: 'c-4' })
  await refresh('2026-08')
  await approve('2026-08')
  await closePeriod('2026-08')
  await askAdmin(`${PATH}/affiliates`, 'PUT', [{ affiliate_id: 'aff-new' }])
  const cause = { kind: 'tree', affiliate_id: 'aff-new' }
  expect(await adjustmentsOf('2026-09', 'aff-new')).toMatchObject([
    { ...ONE, causes: [cause] },
    { ...ONE, causes: [cause] },
  ])
})

test('a period that was closed without a statement counts changes since its run', async () => {
  const { paid } = await firm()
  const started = new Date().toISOString()
  await scheduler.wait(2)
  const late = await paid('t-1', '2026-08-10', 100)
  await env.DB.prepare(
    `insert into statement_runs (account, id, period, status, started_at)
     values (?, 'run-1', '2026-08', 'done', ?)`,
  )
    .bind(ACCOUNT, started)
    .run()
  await closePeriod('2026-08')
  expect(await adjustmentsOf('2026-09')).toMatchObject([
    { ...ONE, amount: '10.00', causes: [record('t-1', '2026-08-10', late)] },
  ])
})

test('a rule with tiers names the records of all customers', async () => {
  const { paid, post } = await firm([
    {
      ...{ id: 'each', kind: 'share', per: 'customer', base: [{ transactions: ['deposit'] }] },
      tiers: {
        mode: 'whole',
        steps: [
          { from: '0', percent: '10' },
          { from: '250', percent: '20' },
        ],
      },
    } as Rule,
  ])
  await post('customers', [customer('c-2')])
  await paid('t-1', '2026-08-10', 100)
  await paid('t-2', '2026-08-10', 100, { customer_id: 'c-2' })
  await refresh('2026-08')
  await approve('2026-08')
  const late = await paid('t-3', '2026-08-11', 100, { customer_id: 'c-2' })
  const causes = [{ ...record('t-3', '2026-08-11', late), customer_id: 'c-2' }]
  expect(await adjustmentsOf('2026-09')).toMatchObject([
    { ...ONE, scope: 'customer:c-1', amount: '10.00', causes },
    { ...ONE, scope: 'customer:c-2', amount: '30.00', causes },
  ])
})

/** Returns a function that chooses one of some values. */
function chooser(seed: number) {
  let state = seed + 1
  return <T>(values: readonly T[]): T => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return values[(state >>> 8) % values.length]!
  }
}

test('every adjustment of a random sequence names a cause, in any grouping of affiliates', async () => {
  const choose = chooser(env.SEED)
  const affiliates = ['aff-7', 'aff-8', 'aff-9']
  const { paid, post } = await firm([TENTH, MASTER, { ...ONCE, id: 'cpa' }])
  await askAdmin(`${PATH}/affiliates`, 'PUT', [
    { affiliate_id: 'aff-7', parent: 'aff-9', from: '2026-01-01' },
  ])
  const people = ['c-1', 'c-2', 'c-3']
  for (const id of people) {
    await post('customers', [{ ...customer(id), affiliate_id: choose(affiliates) }])
  }
  const some = () =>
    paid(
      choose(['t-1', 't-2', 't-3', 't-4', 't-5', 't-6']),
      choose(['2026-05-04', '2026-06-12', '2026-07-15']),
      choose([10, 60, 200]),
      {
        customer_id: choose(people),
        status: choose(['approved', 'approved', 'declined', 'unusual']),
      },
    )
  const path = () => `${PATH}/customers/${choose(people)}`
  const changes = [
    some,
    some,
    () =>
      askAdmin(`${path()}/affiliations`, 'PUT', {
        ...{
          reason: 'Corrected',
          affiliations: [{ from: null, affiliate_id: choose(affiliates) }],
        },
      }),
    () => askAdmin(`${path()}/refusal`, 'PUT', { reason: 'Fraud' }),
    () => askAdmin(`${path()}/refusal`, 'DELETE'),
    () => askAdmin(`${PATH}/status-map`, 'PUT', choose([{ unusual: 'approved' }, {}])),
    () =>
      askAdmin(`${PATH}/affiliates`, 'PUT', [
        { affiliate_id: 'aff-7', parent: choose([null, 'aff-8', 'aff-9']), from: '2026-01-01' },
      ]),
  ]
  for (let i = 0; i < 6; i++) await some()
  let corrections = 0
  for (const period of ['2026-07', '2026-08', '2026-09', '2026-10']) {
    await refresh(period, affiliates)
    expect(await refresh(period, affiliates)).toBe(0)
    for (const one of affiliates) {
      const found = await adjustmentsOf(period, one)
      for (const { causes, causes_total, ...adjustment } of found) {
        expect(causes_total, JSON.stringify(adjustment)).toBeGreaterThan(0)
        expect(causes.length).toBe(Math.min(20, causes_total))
      }
      corrections += found.length
    }
    expect(await refresh(period, affiliates)).toBe(0)
    await approve(period)
    await closePeriod(period)
    for (let i = 0; i < 3; i++) await choose(changes)()
  }
  expect(corrections).toBeGreaterThan(0)
}, 60_000)
