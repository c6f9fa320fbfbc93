import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import type { PlanTerms, Rule } from '../../src/commission/plans/types.ts'
import { ada, askAdmin, deposit, json, partner } from '../partner.ts'
import { eventsOf } from '../webhooks/webhook-events.ts'
import { assign, monthly, publish, storePlan } from './stored.ts'
import { storeDrafts } from './stored-runs.ts'

const ACCOUNT = 'acme-forex'
const PATH = `accounts/${ACCOUNT}`
const TENTH: Rule = {
  ...{ id: 'tenth', kind: 'share', percent: '10', base: [{ transactions: ['deposit'] }] },
}

async function firm(terms: Partial<PlanTerms> = {}, rules: Rule[] = [TENTH]) {
  const acme = await partner('forex', { affiliates: ['aff-7'] })
  await storePlan(acme.account, 'ib', monthly(rules, terms))
  await assign(acme.account, 'ib')
  await acme.post('customers', [{ ...ada, signup_date: '2026-08-01T08:00:00.000Z' }])
  const paid = (id: string, day: string, amount: number, more: object = {}) =>
    acme.post('transactions', [
      {
        ...deposit,
        ...{ transaction_id: id, transaction_date: `${day}T10:00:00Z`, amount_currency: amount },
        ...{ currency: 'EUR' },
        ...more,
      },
    ])
  return { ...acme, paid }
}

/** Computes the drafts of the affiliate up to a period, as a run does. */
async function compute(period: string) {
  await storeDrafts(ACCOUNT, period, ['aff-7'])
  const { data } = await json(askAdmin(`${PATH}/statements`))
  const all = await Promise.all(
    data.map(({ id }: { id: string }) => json(askAdmin(`${PATH}/statements/${id}`))),
  )
  return new Map(all.map((one) => [one.period, one]))
}

/** Approves the draft of a period, as it is stored. */
const approve = (period: string, at = Date.now()) =>
  env.DB.prepare(
    `update statements set status = 'approved', approval = 'apr-' || period, approved_at = ?
     where period = ?`,
  )
    .bind(at, period)
    .run()

test('corrections are an event when they are found, and when they change, but not when the rest does', async () => {
  const { paid } = await firm()
  await askAdmin(`${PATH}/webhooks`, 'POST', { url: 'https://hooks.example/' })
  await paid('t-1', '2026-08-10', 100)
  await compute('2026-09')
  await approve('2026-08')
  for (const [i, day] of ['2026-08-11', '2026-09-11', '2026-08-12'].entries()) {
    await paid(`late-${i}`, day, 30)
    await compute('2026-09')
  }
  const amounts = (await eventsOf(ACCOUNT)).map(({ type, kind, amount }) => [type, kind, amount])
  expect(amounts).toEqual([
    ['adjustment.created', 'correction', '3.00'],
    ['adjustment.created', 'correction', '6.00'],
  ])
})

test('a late record of a closed period is an adjustment of the first open one', async () => {
  const { paid } = await firm()
  await paid('t-1', '2026-08-10', 100)
  const before = await compute('2026-09')
  expect(before.get('2026-08')).toMatchObject({ lines_sum: '10.00', payable: '10.00' })
  await approve('2026-08')

  await paid('t-2', '2026-08-11', 30)
  await paid('t-3', '2026-09-11', 50)
  const after = await compute('2026-10')
  const approved_at = expect.stringMatching(/^20/)
  const whole = { ...before.get('2026-08'), status: 'approved', approved_at }
  expect(after.get('2026-08')).toEqual(whole)
  const line = before.get('2026-08').lines[0]
  expect(after.get('2026-09')).toMatchObject({
    ...{ lines_sum: '5.00', adjustments_sum: '3.00', manual_sum: '0.00', total: '8.00' },
    adjustments: [
      {
        of: { period: '2026-08', line: line.id },
        ...{ rule: 'tenth', version: 1, scope: 'affiliate', occurrence: 0, amount: '3.00' },
      },
    ],
  })
  expect(after.get('2026-10')).toBeUndefined()
})

test('a closed period keeps the rate that was known when it was approved', async () => {
  const { paid } = await firm()
  const known = Date.now() - 10_000
  await publish('2026-08-10', { USD: '2' })
  await paid('t-1', '2026-08-10', 100, { currency: 'USD' })
  expect((await compute('2026-08')).get('2026-08')).toMatchObject({ total: '5.00' })
  await approve('2026-08', known)

  await env.DB.batch([
    env.DB.prepare('update fx_rates set known_until = ?').bind(known + 5000),
    env.DB.prepare(
      `insert into fx_rates (day, known_from, rates)
       select day, known_until, json_replace(rates, '$.USD', '1') from fx_rates`,
    ),
  ])
  await paid('t-2', '2026-08-10', 20, { currency: 'USD' })
  expect((await compute('2026-09')).get('2026-09')).toMatchObject({ adjustments_sum: '1.00' })
})

test('a fact without a rate at the approval takes the rate that was published since', async () => {
  const { paid } = await firm()
  await paid('t-1', '2026-08-10', 100, { currency: 'USD' })
  await paid('t-2', '2026-08-10', 100)
  expect((await compute('2026-08')).get('2026-08')).toMatchObject({ total: '10.00' })
  await approve('2026-08')
  await publish('2026-08-10', { USD: '2' })
  expect((await compute('2026-09')).get('2026-09')).toMatchObject({ adjustments_sum: '5.00' })
})

test('a balance that was to move to a period closed since moves to the first open one', async () => {
  const { paid } = await firm({ minimum_payout: '50' })
  await storePlan(ACCOUNT, 'new', monthly([TENTH], { minimum_payout: '50' }))
  await assign(ACCOUNT, 'new', '*', '2026-09-01', 'all')
  await paid('t-1', '2026-08-10', 100)
  const drafts = (period: string) =>
    env.DB.prepare('select plan from statements where period = ?').bind(period).all()
  await compute('2026-09')
  expect((await drafts('2026-09')).results).toEqual([{ plan: 'new' }])
  await approve('2026-08')
  await env.DB.prepare(`insert into closed_periods values (?, 'new', '2026-09', 1)`)
    .bind(ACCOUNT)
    .run()
  const after = await compute('2026-10')
  expect((await drafts('2026-09')).results).toEqual([])
  expect(after.get('2026-10')).toMatchObject({
    ...{ plan: 'new', opening: '10.00', closing: '10.00' },
    received: [{ from: 'ib', period: '2026-08', amount: '10.00' }],
  })
})
