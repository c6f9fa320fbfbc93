import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import type { ShareRule } from '../../src/commission/plans/types.ts'
import { step } from '../../src/commission/shapes/steps.ts'
import { textOf } from '../../src/commission/why/sentences.ts'
import { ENGLISH } from '../../src/commission/words/words.ts'
import { parsePeriod } from '../../src/platform/money/calendar.ts'
import { customer, deposit as depositOf, plan, terms, world } from './build.ts'
import { open } from './engine.ts'
import { explainAll } from './explain-all.ts'
import { follow } from './follow.ts'
import { periodsOf, randomWorld } from './worlds.ts'

// `npm run worlds` tries more worlds.
/** Worlds that have every step of an explanation. */
const SEEDS = Array.from({ length: env.MODEL_RUNS || 30 }, (_, i) => i)

describe('§14 an explanation', () => {
  test('its steps, followed by hand, give the amount of the line', () => {
    const seen = new Set<string>()
    for (const seed of SEEDS) {
      const world = randomWorld(seed)
      const { account } = open(world)
      for (const id of periodsOf(world)) {
        const period = parsePeriod(id)!
        for (const { line, explanation } of explainAll(account, period)) {
          for (const one of explanation.steps) seen.add(one.step)
          try {
            follow(explanation)
          } catch (error) {
            throw new Error(
              `seed ${seed}, ${id}, ${explanation.affiliate_id} ${line.rule.id} ${line.scope}: ${JSON.stringify(explanation, null, 1)}`,
              { cause: error },
            )
          }
        }
      }
    }
    const names: string[] = step.options.map(({ entries }) => entries.step.literal)
    expect(names.filter((name) => !seen.has(name))).toEqual([])
  })
})

test('an explanation in sentences can be checked by hand', () => {
  const day = (date: string) => Date.parse(`${date}T12:00:00Z`)
  const deposit = (id: number, amount_currency: number, currency = 'EUR') => ({
    transaction_id: `t${id}`,
    customer_id: `c${id % 2}`,
    transaction_type: 'deposit',
    amount_currency,
    currency,
    at: day('2026-10-05'),
    status: 'approved',
  })
  const { account } = open({
    vertical: 'forex',
    affiliates: [{ affiliate_id: 'A', parents: [{ from: null, parent: null }] }],
    status_map: {},
    customers: ['c0', 'c1'].map((customer_id) => ({
      customer_id,
      signup: day('2026-10-01'),
      affiliates: [{ from: null, affiliate_id: 'A' }],
      fields: [{ from: null, values: {} }],
    })),
    transactions: [deposit(1, 1000), deposit(2, 134.5), deposit(3, 110, 'USD')],
    activity: [],
    events: [],
    rates: [
      { day: '2026-10-02', currency: 'USD', rate: '1.1' },
      { day: '2026-10-31', currency: 'USD', rate: '1.2' },
    ],
    plans: [
      {
        plan: 'revenue',
        versions: [
          {
            version: 1,
            terms: terms([
              {
                id: 'share',
                kind: 'share',
                percent: '30',
                base: [{ transactions: ['deposit'] }],
              },
            ]),
          },
        ],
      },
    ],
    assignments: [{ affiliate_id: '*', plan: 'revenue', from: '2026-01-01', customers: 'all' }],
  })
  const [explained] = explainAll(account, parsePeriod('2026-10')!)
  expect(textOf(explained!.explanation, ENGLISH)).toBe(
    [
      'Rule share, version 1, revenue, A, October 2026',
      '',
      'Counted: 3 records of 2 customers.',
      'Deposits: 1,134.50 EUR (2 records) and 110.00 USD (1 record).',
      '110.00 USD (1 EUR = 1.1 USD) of 5 Oct 2026 is 100.00 EUR.',
      'This is paid on 1,234.50 EUR.',
      '30 % of 1,234.50 EUR is 370.35 EUR.',
      'The line pays 370.35 EUR.',
      '',
    ].join('\n'),
  )
})

test('steps that are too long are summed, and still give the amount of the line', () => {
  const days = Array.from({ length: 31 }, (_, i) => `2026-01-${String(i + 1).padStart(2, '0')}`)
  const base = Array.from({ length: 10 }, () => ({ transactions: ['deposit' as const] }))
  const { account } = open(
    world({
      affiliates: [{ affiliate_id: 'A', parents: [] }],
      plans: [plan('P', terms([{ id: 'share', kind: 'share', percent: '1', base }]))],
      assignments: [{ affiliate_id: 'A', plan: 'P', from: '2026-01-01', customers: 'all' }],
      customers: [customer('c1', { affiliates: [{ from: null, affiliate_id: 'A' }] })],
      transactions: days.map((day, i) => depositOf('c1', day, 10 + i, { currency: 'USD' })),
      rates: days.map((day) => ({ day, currency: 'USD', rate: '1.1' })),
    }),
  )
  const [explained] = explainAll(account, parsePeriod('2026-01')!)
  const { explanation } = explained!
  expect(JSON.stringify(explanation.steps).length).toBeLessThan(32_768)
  expect(explanation.steps[0]).toMatchObject({
    terms: Array.from(base, () => ({ currencies: [{ currency: 'USD', count: 31, days: [] }] })),
  })
  follow(explanation)
})

const TENTH: ShareRule = {
  id: 'share',
  kind: 'share',
  percent: '10',
  base: [{ transactions: ['deposit'] }],
}

test('an override is explained by all that it measured, also if an affiliate below cannot be charged', () => {
  const steps = [
    { from: '0', percent: '10' },
    { from: '1000', percent: '20' },
  ]
  const below = (affiliate_id: string) => ({
    affiliate_id,
    parents: [{ from: null, parent: 'U' }],
  })
  const assigned = (affiliate_id: string, name: string) => ({
    ...{ affiliate_id, plan: name, from: '2026-01-01', customers: 'all' as const },
  })
  const of = (affiliate_id: string) => ({ affiliates: [{ from: null, affiliate_id }] })
  const { account } = open(
    world({
      affiliates: [{ affiliate_id: 'U', parents: [] }, below('A'), below('B')],
      plans: [
        plan('P', terms([TENTH])),
        plan('Y', terms([TENTH], { currency: 'JPY' })),
        plan(
          'U',
          terms([
            {
              id: 'up',
              kind: 'override',
              level: 1,
              of: { base: [{ transactions: ['deposit'] }] },
              tiers: { mode: 'whole', steps },
              funded_by: 'downline',
            },
          ]),
        ),
      ],
      assignments: [assigned('A', 'P'), assigned('B', 'Y'), assigned('U', 'U')],
      customers: [customer('c1', of('A')), customer('c2', of('B'))],
      transactions: [depositOf('c1', '2026-01-02', 600), depositOf('c2', '2026-01-02', 600)],
    }),
  )
  const explained = explainAll(account, parsePeriod('2026-01')!)
  const [up] = explained.filter(({ line }) => line.rule.id === 'up' && line.base !== null)
  expect(up!.explanation.line).toMatchObject({ scope: 'affiliate:A', amount: '120.00', rate: '20' })
  follow(up!.explanation)
  expect(up!.explanation.steps.find(({ step }) => step === 'rate')).toMatchObject({
    parts: [{ quantity: '600', rate: '20', amount: '120' }],
  })
})
