import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { parsePeriod } from '../../src/commission/engine/calendar.ts'
import { add, compare, ZERO } from '../../src/commission/engine/decimal.ts'
import { explanationText } from '../../src/commission/engine/explain.ts'
import type { ShareRule } from '../../src/commission/engine/plan.ts'
import { customer, deposit as depositOf, plan, terms, world } from './build.ts'
import { open } from './engine.ts'
import { explainAll } from './explain-all.ts'
import { follow } from './follow.ts'
import { periodsOf, randomWorld } from './worlds.ts'

// `npm run worlds` tries more worlds.
/** Worlds that have every step of an explanation. */
const SEEDS = Array.from({ length: env.MODEL_RUNS || 30 }, (_, i) => 130 + i)

describe('§14 an explanation', () => {
  test('its steps, followed by hand, give the amount of the line', () => {
    const seen = new Set<string>()
    for (const seed of SEEDS) {
      const world = randomWorld(seed)
      const { account, input } = open(world)
      for (const id of periodsOf(world)) {
        const period = parsePeriod(id)!
        for (const { line, explanation } of explainAll(account, input, period)) {
          for (const { step } of explanation.steps) seen.add(step)
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
    expect([...seen].sort()).toEqual([
      'advance',
      'amount',
      'base',
      'clamp',
      'conversion',
      'facts',
      'fence',
      'floor',
      'funded',
      'max',
      'max_count',
      'max_per_customer',
      'measure',
      'negative',
      'qualification',
      'rate',
      'rounding',
      'sources',
      'trigger',
      'units',
    ])
  })

  test('the parts of a line sum to its base and its units', () => {
    for (const seed of SEEDS.slice(0, env.MODEL_RUNS || 15)) {
      const world = randomWorld(seed)
      const { account, input } = open(world)
      for (const id of periodsOf(world)) {
        for (const { line, parts } of explainAll(account, input, parsePeriod(id)!)) {
          if (line.rule.kind !== 'share' && line.rule.kind !== 'unit') continue
          const fixed = line.rule.kind === 'share' && line.scope === 'affiliate'
          const base = parts.reduce((total, part) => add(total, part.base), ZERO)
          const units = parts.reduce((total, part) => add(total, part.units), ZERO)
          const before = line.fence?.base ?? line.base ?? ZERO
          const whole = fixed && 'base' in line.rule ? add(base, line.rule.base.fixed) : base
          expect(compare(whole, before)).toBe(0)
          if (line.units) expect(compare(units, line.units)).toBe(0)
        }
      }
    }
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
  const { account, input } = open({
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
            terms: {
              name: 'Revenue',
              currency: 'EUR',
              period: 'month',
              effective_from: '2026-01-01',
              terms: 'signup',
              negative: 'carry',
              minimum_payout: '0',
              hold_days: 14,
              rules: [
                {
                  id: 'share',
                  kind: 'share',
                  percent: '30',
                  base: [{ transactions: ['deposit'] }],
                },
              ],
            },
          },
        ],
      },
    ],
    assignments: [{ affiliate_id: '*', plan: 'revenue', from: '2026-01-01', customers: 'all' }],
  })
  const [explained] = explainAll(account, input, parsePeriod('2026-10')!)
  expect(explanationText(explained!.explanation)).toBe(
    [
      'Rule share (version 1) of the plan revenue for the affiliate A in October 2026',
      '',
      'The base counts 3 records of 2 customers.',
      'Deposits sum to 1,134.50 EUR (2 records) and 110.00 USD (1 record).',
      'On 5 Oct 2026, 110.00 USD at 1 EUR = 1.1 USD is 100.00 EUR.',
      'The base is 1,234.50 EUR.',
      '30 % of 1,234.50 EUR is 370.35 EUR.',
      'The line pays 370.35 EUR.',
      '',
    ].join('\n'),
  )
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
  const { account, input } = open(
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
  const explained = explainAll(account, input, parsePeriod('2026-01')!)
  const [up] = explained.filter(({ line }) => line.rule.id === 'up' && line.base !== null)
  expect(up!.explanation.line).toMatchObject({ scope: 'affiliate:A', amount: '120.00', rate: '20' })
  follow(up!.explanation)
  expect(up!.explanation.steps.find(({ step }) => step === 'rate')).toMatchObject({
    parts: [{ quantity: '600', rate: '20', amount: '120' }],
  })
})
