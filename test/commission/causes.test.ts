import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import type { Rule } from '../../src/commission/engine/plan.ts'
import { signedIn } from '../console/browser.ts'
import { digestOfRecords, storeCases, storeFinding, storeRule } from '../fraud/stored-cases.ts'
import { askAdmin, json } from '../partner.ts'
import {
  ACCOUNT,
  adjustmentsOf,
  approve,
  closePeriod,
  customer,
  firm,
  PATH,
  refresh,
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

const ONCE: Rule = {
  ...{ id: 'cpa', kind: 'once', trigger: { transactions: ['deposit'] }, amount: '50.00' },
  qualify: [{ sum: [{ transactions: ['deposit'] }], min: '150' }],
}

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
