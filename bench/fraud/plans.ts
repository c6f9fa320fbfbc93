import type { PlanTerms } from '../../src/commission/engine/plan.ts'
import type { Vertical } from '../../src/fraud/kind.ts'

// What affiliates earn in the year: half of them an amount for each customer, the others by volume or a share.

const TERMS = {
  currency: 'EUR',
  period: 'month',
  effective_from: '2025-01-01',
  terms: 'signup',
  negative: 'carry',
  minimum_payout: '50.00',
  hold_days: 14,
} as const

const plan = (rules: PlanTerms['rules']): PlanTerms => ({ ...TERMS, name: 'Bench', rules })

/** The least deposit of a customer by whom an affiliate of `customers` earns; of the smallest challenge its fee. */
export const LEAST: Readonly<Record<Vertical, number>> = {
  forex: 200,
  igaming: 20,
  'prop-trading': 49,
}

/** The two plans of each vertical. */
export const PLANS: Readonly<Record<Vertical, Readonly<Record<'customers' | 'share', PlanTerms>>>> =
  {
    forex: {
      customers: plan([
        {
          id: 'cpa',
          kind: 'once',
          trigger: { transactions: ['deposit'], min: '50' },
          qualify: [
            { sum: [{ transactions: ['deposit'] }], min: '200', within_days: 30 },
            { count: { activity: 'lots_traded' }, min: 1, within_days: 30 },
          ],
          amount: '120.00',
        },
      ]),
      share: plan([
        { id: 'lots', kind: 'unit', unit: { activity: 'lots_traded' }, amount: '4.00' },
      ]),
    },
    igaming: {
      customers: plan([
        { id: 'cpa', kind: 'once', trigger: { event: 'Deposit', min: '20' }, amount: '60.00' },
      ]),
      share: plan([
        {
          id: 'share',
          kind: 'share',
          percent: '30',
          base: [{ name: 'ngr', event: 'DailyStats', kpi: 'NGR' }],
          negative: 'zero',
        },
        { id: 'first', kind: 'once', trigger: { event: 'Deposit', min: '20' }, amount: '15.00' },
      ]),
    },
    'prop-trading': {
      customers: plan([
        {
          id: 'first-challenge',
          kind: 'once',
          trigger: { transactions: ['challenge_fee'], min: '49' },
          void_by: { terms: [{ transactions: ['refund'] }], within_days: 14 },
          percent: '20',
        },
      ]),
      share: plan([
        {
          id: 'fees',
          kind: 'share',
          percent: '15',
          base: [
            { transactions: ['challenge_fee', 'reset_fee'] },
            { transactions: ['refund'], times: '-1' },
          ],
          negative: 'carry',
        },
      ]),
    },
  }
