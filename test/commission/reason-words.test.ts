import { describe, expect, test } from 'vitest'
import type { Conditions, PlanTerms } from '../../src/commission/engine/plan.ts'
import { reasonWords, type Unpaid } from '../../src/commission/engine/reason-words.ts'
import { REASONS } from '../../src/commission/engine/reasons.ts'

const TODAY = '2026-03-28'

/** Every condition; the compiler refuses this list if one is missing. */
const WHEN: Required<Conditions> = {
  countries: ['DE'],
  not_countries: ['US'],
  account_types: ['real'],
  not_account_types: ['demo'],
  challenge_types: ['standard'],
  not_challenge_types: ['instant'],
  phases: ['funded'],
  not_phases: ['evaluation'],
  kyc: ['verified'],
  not_kyc: ['rejected'],
  sales: ['won'],
  not_sales: ['lost'],
  links: ['L1'],
  not_links: ['L2'],
  instruments: ['XAU*'],
  not_instruments: ['BTC*'],
  products: ['Casino'],
  not_products: ['Sports'],
  currencies: ['EUR'],
  not_currencies: ['AED'],
  subtypes: ['card'],
  not_subtypes: ['bonus'],
  account_size: { min: '5000' },
}

/** A plan whose rules have every condition. */
const TERMS = {
  name: 'IB 2026',
  currency: 'EUR',
  period: 'month',
  effective_from: '2026-01-01',
  terms: 'signup',
  negative: 'carry',
  minimum_payout: '0',
  hold_days: 0,
  rules: [
    {
      id: 'cpa',
      kind: 'once',
      trigger: { transactions: ['deposit'], min: '100' },
      amount: '200',
      months: 6,
      when: WHEN,
      qualify: [
        { sum: [{ activity: 'lots_traded' }], min: '5', within_days: 30 },
        { sum: [{ transactions: ['deposit'] }], min: '500', within_days: 30, at: 'end' },
        { count: { transactions: ['deposit'] }, min: 2 },
        { count: { activity: 'lots_traded' }, min: 3, within_days: 10 },
        { customer: { kyc: ['verified'], not_countries: ['US'] } },
      ],
      void_by: { terms: [{ transactions: ['withdrawal'] }], within_days: 14 },
    },
    {
      id: 'share',
      kind: 'share',
      percent: '25',
      base: [{ activity: 'spread_cost', when: WHEN }],
    },
    { id: 'lots', kind: 'unit', unit: { activity: 'lots_traded' }, amount: '5' },
  ],
} as unknown as PlanTerms

const DEPOSIT: Unpaid = {
  reason: 'not_qualified',
  rule: 'cpa',
  condition: null,
  resource: 'transactions',
  transaction_type: 'deposit',
  eventname: null,
  currency: 'EUR',
  day: '2026-03-16',
  affiliate_id: 'IB-7',
}

const GROUP: Unpaid = (({ day: _, ...group }) => group)(DEPOSIT)
const ACTIVITY: Unpaid = { ...DEPOSIT, resource: 'trading-activity', transaction_type: null }

const ONCE = ['min', 'trigger', 'before_signup', 'rate', 'reversed', 'void_by', 'elsewhere']

/** Every condition that an outcome can name. */
const CONDITIONS = [
  null,
  'months',
  ...Object.keys(WHEN),
  ...ONCE,
  ...[0, 1, 2, 3, 4, 9].map((index) => `qualify/${index}`),
]

/** What no sentence has: names with underscores, pointers, code, days as numbers. */
const NEVER = /[a-z]_[a-z]|\w\/\d|`|\d{4}-\d\d-\d\d|undefined|null|\[object|NaN| {2}|\.\.|“”/

const CASES = (['counted', ...REASONS] as const).flatMap((reason) =>
  CONDITIONS.map((condition) => ({ reason, condition })),
)

test.each(CASES)('$reason with $condition has a sentence and a next step', (outcome) => {
  for (const one of [DEPOSIT, GROUP, ACTIVITY]) {
    for (const terms of [TERMS, null]) {
      for (const rule of ['cpa', 'share', null]) {
        for (const progress of [{}, { reached: '3', min: '5', until: '2026-04-09' }]) {
          const unpaid = { ...one, ...outcome, rule, ...progress }
          const { sentence, next } = reasonWords(unpaid, terms, TODAY)
          for (const text of [sentence, next.text]) {
            expect(text).toMatch(/^[A-Z].+\.$/)
            expect(text).not.toMatch(NEVER)
          }
        }
      }
    }
  }
})

const sentenceOf = (unpaid: Partial<Unpaid>, today = TODAY) =>
  reasonWords({ ...DEPOSIT, ...unpaid }, TERMS, today).sentence

const LOTS = { condition: 'qualify/0', reached: '3', min: '5', until: '2026-04-09' }

describe('the sentence of', () => {
  test.each<[string, Partial<Unpaid>, string]>([
    ['a sum of lots', LOTS, 'The customer has 3 of 5 lots; 12 days left.'],
    [
      'a sum without a limit of time',
      { condition: 'qualify/2', reached: '1', min: '2' },
      'The customer has 1 of 2 deposits; there is no time limit.',
    ],
    [
      'a sum of money',
      { condition: 'qualify/1', reached: '1200', min: '5000', until: '2026-03-29' },
      'The customer has 1,200.00 of 5,000.00 EUR of deposits; 1 day left.',
    ],
    [
      'a sum that is nearly reached',
      { condition: 'qualify/1', reached: '499.999', min: '500', until: '2026-04-09' },
      'The customer has 499.99 of 500.00 EUR of deposits; 12 days left.',
    ],
    [
      'a sum that waits for the end of its time',
      { condition: 'qualify/1', reached: '500', min: '500', until: '2026-04-09' },
      'The customer has reached 500.00 EUR of deposits. It counts if that is still so when the time is over, on 9 Apr 2026.',
    ],
    [
      'a condition on the customer',
      { condition: 'qualify/4' },
      'The rule “cpa” waits until the customer has the KYC status verified and is not from the United States.',
    ],
    [
      'a deposit that is too small',
      { condition: 'min', reached: '80', min: '100' },
      'The deposit is 80.00 EUR: the rule “cpa” asks for at least 100.00 EUR.',
    ],
    [
      'a record before the first deposit',
      { ...ACTIVITY, condition: 'trigger' },
      'The rule “cpa” pays when the customer makes a first deposit of at least 100.00 EUR. That has not happened yet.',
    ],
    [
      'a record before the first deposit, which has a last day',
      { ...ACTIVITY, condition: 'trigger', until: '2026-03-30' },
      'The rule “cpa” pays when the customer makes a first deposit of at least 100.00 EUR. That has not happened yet; 2 days left.',
    ],
    [
      'a record of a customer without a first deposit in time',
      { ...ACTIVITY, condition: 'trigger', until: '2026-03-01' },
      'The rule “cpa” pays when the customer makes a first deposit of at least 100.00 EUR. That did not happen in time: the time was over on 1 Mar 2026.',
    ],
    [
      'the end of the months of a rule, with its day',
      { reason: 'expired', condition: 'months', until: '2026-03-01' },
      'The rule “cpa” pays only in the first 6 months after the signup, and they were over, on 1 Mar 2026.',
    ],
    [
      'a rate that is not published',
      { reason: 'fx_pending', currency: 'AED' },
      'It waits for the AED rate of 16 Mar 2026.',
    ],
    [
      'a rate that is missing',
      { reason: 'fx_missing', currency: 'AED' },
      'There is no AED rate of 16 Mar 2026 or of the 7 days before.',
    ],
    [
      'a country that is left out',
      { reason: 'excluded', condition: 'not_countries' },
      'The rule “cpa” does not pay for customers from the United States.',
    ],
    [
      'an affiliate that is not set up',
      { reason: 'unknown_affiliate', rule: null },
      'The affiliate IB-7 is not set up.',
    ],
  ])('%s', (_, unpaid, sentence) => {
    expect(sentenceOf(unpaid)).toBe(sentence)
  })

  test.each([
    ['2026-04-09', 'The customer has 3 of 5 lots; today is the last day.'],
    ['2026-04-10', 'The customer had 3 of 5 lots when the time was over, on 9 Apr 2026.'],
  ])('a sum on %s', (today, sentence) => {
    expect(sentenceOf(LOTS, today)).toBe(sentence)
  })
})
