import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import type { PlanTerms, Rule } from '../../src/commission/engine/plan.ts'
import { ruleWords, termsWords } from '../../src/commission/engine/plan-words.ts'
import { randomWorld } from './worlds.ts'

const FRAME = { currency: 'EUR', period: 'month' } as const

const sentences = (rule: object): string[] => {
  const { pays, limits } = ruleWords({ id: 'r', ...rule } as unknown as Rule, FRAME)
  return [pays, ...limits]
}

const SUM = { sum: [{ transactions: ['deposit'] }], min: '500', within_days: 30 }

describe('a rule in words', () => {
  test.each<[string, object, string[]]>([
    [
      'an amount once',
      {
        kind: 'once',
        trigger: { transactions: ['deposit'], min: '100' },
        amount: '200',
        qualify: [SUM],
      },
      [
        '200.00 EUR once for each customer, when the customer makes a first deposit of at least 100.00 EUR and deposits reach 500.00 EUR within 30 days of the signup.',
      ],
    ],
    [
      'a percentage once, with every limit',
      {
        kind: 'once',
        trigger: { transactions: ['challenge_fee'] },
        percent: '15',
        min_amount: '5',
        max_amount: '150',
        void_by: { terms: [{ transactions: ['refund'] }], within_days: 14 },
        requalify: true,
        grace_hours: 1,
        max_count: 500,
        max: '10000',
        months: 12,
        when: { not_account_types: ['demo'], countries: ['DE', 'AT'] },
      },
      [
        '15 % of the amount once for each customer, when the customer pays a first challenge fee.',
        'The amount is at least 5.00 EUR and at most 150.00 EUR.',
        'Only for customers from Germany or Austria.',
        'Not for customers with the account type demo.',
        "Only in the first 12 months after a customer's signup.",
        'It does not count if refunds reach its amount within 14 days.',
        'If it is taken back, the next one counts.',
        'Records up to 1 hour before the signup count.',
        'At most 500 customers a month for each affiliate.',
        'At most 10,000.00 EUR a month for each affiliate.',
      ],
    ],
    [
      'a share with deductions',
      {
        kind: 'share',
        percent: '30',
        base: [
          { activity: 'spread_cost' },
          { name: 'fees', activity: 'commission' },
          { of: ['fees'], times: '-0.2' },
          { fixed: '-25' },
        ],
        negative: 'carry',
      },
      [
        '30 % of spread plus trading commission minus 20 % of trading commission minus 25.00 EUR a month.',
        'A negative result is carried and set against later results of this rule.',
      ],
    ],
    [
      'units by tiers',
      {
        kind: 'unit',
        unit: { activity: 'lots_traded' },
        tiers: {
          mode: 'slice',
          steps: [
            { from: '0', amount: '3' },
            { from: '100', amount: '5' },
          ],
        },
        when: { instruments: ['EURUSD*', 'XAU*'] },
      },
      [
        '3.00 EUR to 5.00 EUR for each lot traded.',
        'By the lots traded in the month: 3.00 EUR from 0, 5.00 EUR from 100. Each part is paid at its own step.',
        'Only for records on EURUSD* or XAU*.',
      ],
    ],
    [
      'an override that the downline funds',
      {
        kind: 'override',
        level: 1,
        of: { lines: ['share', 'unit'] },
        percent: '10',
        funded_by: 'downline',
      },
      [
        '10 % of what the affiliates directly below earn by revenue share and volume.',
        'The affiliate below pays it: the same amount is deducted there.',
      ],
    ],
    [
      'conditions of the customer, beside what they do',
      {
        kind: 'once',
        trigger: { transactions: ['deposit', 'other'] },
        amount: '1',
        qualify: [
          { customer: { countries: ['DE', 'AT'], not_account_types: ['demo'] } },
          { customer: { account_size: { min: '50000' }, links: ['Lk7Qm2Xv'] } },
        ],
      },
      [
        '1.00 EUR once for each customer, when the customer makes a first deposit or other transaction, the customer is from Germany or Austria and does not have the account type demo and the customer came by the link Lk7Qm2Xv and has an account size of at least 50,000.',
      ],
    ],
    [
      'plurals',
      {
        kind: 'share',
        percent: '10',
        base: [{ transactions: ['bonus', 'challenge_fee', 'other'] }],
      },
      [
        '10 % of bonuses, challenge fees and other transactions.',
        'A negative result is deducted from what other rules pay.',
      ],
    ],
    [
      'many records as one unit',
      { kind: 'unit', unit: { count: { transactions: ['bonus'] } }, each: '10', amount: '5' },
      ['5.00 EUR for each 10 bonuses.'],
    ],
  ])('%s', (_, rule, expected) => {
    expect(sentences(rule)).toEqual(expected)
  })

  test('no rule of random plans shows a name or a value that only programs read', () => {
    const found = new Set<string>()
    for (let seed = env.SEED; seed < env.SEED + 200; seed++) {
      for (const { versions } of randomWorld(seed).plans) {
        for (const { terms } of versions) {
          const plan = terms as unknown as PlanTerms
          for (const rule of plan.rules) {
            const { pays, limits } = ruleWords(rule, plan)
            for (const sentence of [pays, ...limits, ...termsWords(plan)]) found.add(sentence)
          }
        }
      }
    }
    expect(found.size).toBeGreaterThan(200)
    for (const sentence of found) {
      // Names of affiliates' rules and values are shown as they are; these worlds have none with `_`,
      // but for the phases of challenges.
      expect(sentence.replace(/phase_\d/g, '')).toMatch(/^[^_{}[\]`]+\.$/)
      expect(sentence).not.toMatch(/undefined|null|NaN| {2}| ,|\.\.$/)
    }
  })
})
