import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import type { Rule } from '../../src/commission/engine/plan.ts'
import {
  adjustmentsOf,
  approve,
  closePeriod,
  customer,
  firm,
  PATH,
  refresh,
  TENTH,
} from '../books/closed.ts'
import { askAdmin } from '../partner.ts'
import { publish } from './stored.ts'

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

const MASTER: Rule = {
  ...{ id: 'master', kind: 'override', level: 1, of: { lines: ['share'] }, percent: '10' },
}

const ONCE: Rule = {
  ...{ id: 'cpa', kind: 'once', trigger: { transactions: ['deposit'] }, amount: '50.00' },
  qualify: [{ sum: [{ transactions: ['deposit'] }], min: '150' }],
}

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
