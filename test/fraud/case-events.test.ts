import { env } from 'cloudflare:workers'
import { beforeEach, expect, test } from 'vitest'
import { type EvaluatedCase, storeCases } from '../../src/fraud/db/findings.ts'
import { askAdmin, register } from '../partner.ts'
import { eventsOf } from '../webhooks/webhook-events.ts'

const ACCOUNT = 'acme-forex'

const webhook = (...events: string[]) =>
  askAdmin(`accounts/${ACCOUNT}/webhooks`, 'POST', {
    ...{ url: 'https://hooks.example/tributary', ...(events.length > 0 && { events }) },
  })

beforeEach(async () => {
  await register('forex', { affiliates: ['a'] })
})

const FOUND = {
  ...{ id: 'case_1', affiliate_id: 'a', rule: 'minimum', subject: 'affiliate:a', position: 0 },
  ...{ customer_id: null, other_customer_id: null, version: 1, kind: 'minimum_deposit' },
  ...{ severity: 'high', action: 'hold', status: 'open' },
  ...{
    opened_for: 20_000,
    last_day: 20_000,
    since: 20_000,
    figures: '[]',
    sentence: '12 of 15 deposited.',
  },
  evidence_count: 1,
} satisfies EvaluatedCase

/** Stores cases as an evaluation does. */
const evaluate = (...cases: readonly Partial<EvaluatedCase>[]) =>
  storeCases(
    env.DB,
    ACCOUNT,
    cases.map((one) => ({ ...FOUND, ...one })),
    [],
    { actor: 'run', now: Date.now() },
    env.DB.prepare('select 1'),
  )

const OPENED = {
  ...{ type: 'case.opened', case_id: 'case_1', affiliate_id: 'a', rule: 'minimum', version: 1 },
  ...{ subject: { affiliate_id: 'a' }, kind: 'minimum_deposit', severity: 'high', action: 'hold' },
  ...{ opened_for: '2024-10-04', sentence: '12 of 15 deposited.' },
}

test('a case that opens is one event; what is added to it is none', async () => {
  await webhook('case.opened')
  const found = [
    { id: 'case_1' },
    { id: 'case_2', rule: 'twins', subject: 'customer:c-1' },
    { id: 'case_3', rule: 'pairs', subject: 'customers:["c-1","c-2"]' },
  ] as const
  await evaluate(...found)
  await evaluate(...found.map((one) => ({ ...one, last_day: 20_001 })))
  const events = await eventsOf(ACCOUNT)
  expect(events.sort((a, b) => (a.case_id < b.case_id ? -1 : 1))).toEqual([
    OPENED,
    { ...OPENED, case_id: 'case_2', rule: 'twins', subject: { customer_id: 'c-1' } },
    { ...OPENED, case_id: 'case_3', rule: 'pairs', subject: { customer_ids: ['c-1', 'c-2'] } },
  ])
})
