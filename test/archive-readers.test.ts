import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { readMonth } from '../src/db/archive/months.ts'
import { RecordsArchived } from '../src/db/archive/needed.ts'
import { dayNumber } from '../src/db/column-types.ts'
import {
  readChangedRows,
  readCurrencyDays,
  readMovedFacts,
  readReleased,
} from '../src/db/commission/books/changed.ts'
import { readRuleVersions } from '../src/db/fraud/rules.ts'
import { readFirstDeposits } from '../src/db/webhooks/postback-causes.ts'
import { DAY_MS } from '../src/durations.ts'
import { archive, keepTotals, monthOf, restoreWanted } from './archive-steps.ts'
import { brand, deposited, eve } from './brand.ts'
import { randomSource, type Source } from './commission/worlds.ts'
import { signedIn } from './console/browser.ts'
import { storeCases, storeFinding, storeRule } from './fraud/stored-cases.ts'
import { ada, askAdmin, deposit, json, partner, traded } from './partner.ts'

// What reads old records beside lists, reports and statements is right while they are archived.

const OCTOBER = monthOf('acme', 'transactions')

/** Archives a month of a partner; fails if it stays. */
async function archived(month = OCTOBER, vertical = 'forex') {
  await keepTotals(month.account, vertical, '1970-01-01', '2026-12-31')
  await archive(month)
  expect(await readMonth(env.DB, month)).toMatchObject({ state: 'archived' })
}

/** Returns a firm with a deposit in October, and one in November. */
async function firm() {
  const acme = await partner('forex', { account: 'acme', unknown_customer: 'hold' })
  await acme.post('customers', [ada])
  const { delivery_id } = await json(
    acme.post('transactions', [
      { ...deposit, transaction_id: 'old', transaction_date: '2026-10-05T09:30:00Z' },
      { ...deposit, transaction_id: 'new', transaction_date: '2026-11-02T09:30:00Z' },
    ]),
  )
  await acme.post('trading-activity', [{ ...traded, date: '2026-10-06' }])
  return { ...acme, delivery_id: String(delivery_id) }
}

test('the records of a fraud case say that they are archived, and bring nothing back', async () => {
  await firm()
  const day = dayNumber('2026-10-05')
  await storeRule('acme')
  const lastDay = dayNumber('2026-11-02')
  await storeCases({ id: 'case_1', account: 'acme', evidence: 3, openedFor: day, lastDay })
  await storeFinding(
    day,
    [
      ['old', 'c-1'],
      ['gone', 'c-1'],
    ],
    { account: 'acme' },
  )
  await storeFinding(lastDay, [['new', 'c-1']], { account: 'acme' })
  const read = async () =>
    (await json(askAdmin('accounts/acme/cases/case_1/evidence'))).data as {
      id: string
      values: object | null
      archived: boolean
    }[]
  const before = await read()
  expect(before.map((one) => [one.id, one.values !== null, one.archived])).toEqual([
    ['old', true, false],
    ['gone', false, false],
    ['new', true, false],
  ])
  await archived()
  const after = await read()
  expect(after.map((one) => [one.id, one.values !== null, one.archived])).toEqual([
    ['old', false, true],
    ['gone', false, true],
    ['new', true, false],
  ])
  expect(await restoreWanted()).toBe(0)
  const page = await (await signedIn()).get('/console/accounts/acme/cases/case_1')
  expect((await page.text()).match(/>Archived</g)).toHaveLength(2)
  expect(await restoreWanted()).toBe(0)
})

test.for(['records?id=new', 'records?id=c-1', 'deliveries?record_id=new', 'records?id=nothing'])(
  'a search by an id that is not archived brings nothing back: GET %s',
  async (path) => {
    await firm()
    const read = () => askAdmin(`accounts/acme/${path}`)
    const before = await json(read())
    await archived()
    await archived(monthOf('acme', 'trading-activity'))
    expect(await json(read())).toEqual(before)
    expect(await restoreWanted()).toBe(0)
  },
)

test('the first record of an account is also an archived one', async () => {
  await firm()
  const read = async () => (await readRuleVersions(env.DB, 'acme', 'any')).firstRecord
  await env.DB.prepare('update customers set day = day + 1000').run()
  expect(await read()).toBe(dayNumber('2026-10-05'))
  await archived()
  expect(await read()).toBe(dayNumber('2026-10-05'))
  await archived(monthOf('acme', 'trading-activity'))
  expect(await read()).toBe(dayNumber('2026-10-05'))
})

const attentionOf = async (code: string) =>
  (await json(askAdmin('accounts/acme/attention'))).data.find(
    (one: { code: string }) => one.code === code,
  )

test('records before 2000 need attention also while they are archived', async () => {
  const acme = await firm()
  await acme.post('transactions', [
    { ...deposit, transaction_id: 'x', transaction_date: '1970-01-01T00:00:00Z' },
  ])
  const before = await attentionOf('implausible_times')
  expect(before).toMatchObject({ count: 1 })
  await archived(monthOf('acme', 'transactions', '1970-01'))
  expect(await attentionOf('implausible_times')).toEqual(before)
})

test('refused records that were stored since are so also while they are archived', async () => {
  const casino = await brand({
    account: 'acme',
    events: { Deposit: { granularity: 'event', eventid: 'used' } },
  })
  await casino.post('customers', [eve])
  const old = { ...deposited, createtime: '2026-10-05 10:00' }
  await casino.post('activities', [
    { ...old, eventid: 'e-1', Value: 'x' },
    { ...old, eventid: 'e-2', Value: 'x' },
  ])
  expect(await attentionOf('refused_records')).toMatchObject({ count: 2 })
  await casino.post('activities', [{ ...old, eventid: 'e-1' }])
  const one = await attentionOf('refused_records')
  expect(one).toMatchObject({ count: 1 })
  await archived(monthOf('acme', 'activities'), 'igaming')
  expect(await attentionOf('refused_records')).toEqual(one)
})

test('the causes of corrections need the months that deliveries since have written', async () => {
  const { delivery_id } = await firm()
  await archived()
  const october = [dayNumber('2026-10-05')]
  const days = { transactions: october, activity: [], events: [] }
  const later = `${delivery_id}~`
  const moving = (id: string) => [{ id, moved: new Set([0]), days: october }]
  const wants = [
    () => readChangedRows(env.DB, 'acme', days, ['c-1'], delivery_id),
    () => readMovedFacts(env.DB, 'acme', moving(delivery_id)),
    () => readCurrencyDays(env.DB, 'acme', days, ['c-1'], null),
  ]
  for (const want of wants) {
    await expect(want()).rejects.toBeInstanceOf(RecordsArchived)
    expect(await restoreWanted()).toBe(1)
    expect(await want()).not.toEqual([])
    await archived()
  }
  await readChangedRows(env.DB, 'acme', days, ['c-1'], later)
  await readChangedRows(env.DB, 'acme', days, ['c-2'], delivery_id)
  await readMovedFacts(env.DB, 'acme', moving(later))
  await readReleased(env.DB, 'acme', days, ['c-1'], later)
  expect(await restoreWanted()).toBe(0)
})

test('the causes of corrections need the months with records that waited for their customer', async () => {
  const acme = await partner('forex', { account: 'acme', unknown_customer: 'hold' })
  const old = { ...deposit, transaction_id: 'old', transaction_date: '2026-10-05T09:30:00Z' }
  await acme.post('transactions', [old])
  await acme.post('customers', [ada])
  await archived()
  const days = { transactions: [dayNumber('2026-10-05')], activity: [], events: [] }
  const want = () => readReleased(env.DB, 'acme', days, ['c-1'], 'dlv_~')
  await expect(want()).rejects.toBeInstanceOf(RecordsArchived)
  expect(await restoreWanted()).toBe(1)
  expect(await want()).toMatchObject([{ customer_id: 'c-1', table: 'transactions' }])
})

const ago = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10)

/** The days before today on which a customer may deposit: of two months that are archived, and of lately. */
const DEPOSIT_DAYS = [105, 100, 95, 72, 70, 68, 34, 20, 2, 1, 0]
const STATUSES = ['approved', 'approved', 'declined', 'pending']

/** Creates an account whose customers deposit at random, before and after their signup, approved or not. */
async function depositors({ below, pick }: Source) {
  const acme = await partner('forex', { account: 'acme' })
  const customers = Array.from({ length: 60 }, (_, i) => ({
    ...{ ...ada, customer_id: `c-${i}`, affiliate_id: 'aff-7' },
    signup_date: `${ago(pick([110, 100, 99, 71, 69, 33, 1]))}T00:00:00Z`,
  }))
  await acme.post('customers', customers)
  const deposits = customers.flatMap(({ customer_id }) =>
    Array.from({ length: 1 + below(4) }, (_, i) => ({
      ...{ ...deposit, customer_id, transaction_id: `${customer_id}-${i}`, currency: 'EUR' },
      ...{ status: pick(STATUSES), amount_currency: 1 + below(100) },
      transaction_type: below(10) > 0 ? 'deposit' : 'withdrawal',
      transaction_date: `${ago(pick(DEPOSIT_DAYS))}T0${below(9)}:00:00Z`,
    })),
  )
  expect((await json(acme.post('transactions', deposits))).summary.rejected).toBe(0)
}

/** Reads the first deposits of the last 35 days: those of a report, of the overview and of postbacks. */
async function readFirst() {
  const report = `from=${ago(35)}&to=${ago(0)}&currency=EUR&group_by=day&metrics=first_deposit_count,first_deposit_amount`
  const caused = await readFirstDeposits(env.DB, {
    ...{ account: 'acme', first: '', since: Date.parse(ago(35)), affiliates: '["aff-7"]' },
    ...{ since_day: dayNumber(ago(35)), last_day: dayNumber(ago(0)) },
    ...{ links: '{}', approved: '["approved"]' },
  })
  return {
    report: (await json(askAdmin(`accounts/acme/reports?${report}`))).data,
    changes: (await json(askAdmin('accounts/acme/changes'))).first_deposits,
    caused: caused.map(({ transaction_id }) => transaction_id),
  }
}

test.for([0, 1, 2])('nobody’s first deposit needs an archived month: world %i', async (world) => {
  await depositors(randomSource(3 * env.SEED + world))
  const before = await readFirst()
  expect(before.report.length).toBeGreaterThan(2)
  expect(before.caused.length).toBeGreaterThan(5)
  for (const month of new Set([105, 100, 95, 72, 68].map((days) => ago(days).slice(0, 7)))) {
    await archived(monthOf('acme', 'transactions', month))
  }
  expect(await readFirst()).toEqual(before)
  expect(await restoreWanted()).toBe(0)
})
