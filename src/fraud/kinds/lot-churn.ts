import {
  add,
  type Decimal,
  decimal,
  isPositive,
  multiply,
  subtract,
  sum,
  ZERO,
} from '../../commission/engine/decimal.ts'
import type { Fact, FactResource } from '../../commission/engine/facts.ts'
import { counted, figure } from '../../commission/engine/reasons.ts'
import { objectOf } from '../../commission/plans/shapes.ts'
import { documentation } from '../../validation/fields.ts'
import { exceeds } from '../figures.ts'
import { defineKind, evidenceOf, type Finding, ownFacts, type Seen, type View } from '../kind.ts'
import { above0, days, MAX_DAYS } from '../parameters.ts'

/** Trading that earns the affiliate more by volume than it brings the firm. */
export const lotChurn = defineKind({
  kind: 'lot_churn',
  verticals: ['forex'],
  parameters: objectOf({
    percent: above0(
      '80',
      documentation(
        'The percentage of spread cost and commission that the earnings by volume must exceed.',
      ),
    ),
    days: days(30, documentation('The days that are summed.')),
  }),
  labels: {
    percent: {
      label: 'Share of spread and commission',
      is: 'percent',
      hint: 'What the affiliate earns by volume must be more.',
    },
    days: { label: 'Days that are summed', is: 'whole', unit: 'days' },
  },
  words: ({ percent, days: window }) => ({
    when: `in ${counted(window, 'day')} the affiliate earned more by volume from a customer, or from all together, than ${figure(percent)} % of the spread and commission charged, or than the net deposits up to then`,
    more: ['Customers without a deposit are left out of the comparison with net deposits.'],
  }),
  reach: ({ days: window }) => ({
    transactions: MAX_DAYS,
    'trading-activity': window,
    unitEarnings: true,
  }),
  find(view, day, { percent, days: window }) {
    const first = day - window + 1
    const sums = view.customers
      .map((customer) => ({ customer, ...sumsOf(view, customer, first, day) }))
      .filter(({ earned }) => isPositive(earned))
    const subjects = [
      ...sums.map((one) => ({
        subject: { customer_id: one.customer.customer_id },
        sentence: 'By volume the affiliate earned more from the customer than the limits allow.',
        parts: [one],
      })),
      {
        subject: { affiliate_id: view.affiliate_id },
        sentence: 'By volume the affiliate earned more from all customers than the limits allow.',
        parts: sums,
      },
    ]
    return subjects.flatMap(({ subject, sentence, parts }): Finding[] => {
      const total = (of: (one: Sums) => Decimal) => sum(parts.map(of))
      const depositors = parts.flatMap(({ earned, netDeposits }) =>
        netDeposits ? [{ earned, netDeposits }] : [],
      )
      const figures = [
        ...exceeds(
          'earned_by_volume_of_charges',
          total((one) => one.earned),
          multiply(
            total((one) => one.charged),
            multiply(decimal(percent), decimal('0.01')),
          ),
          view.currency,
        ),
        ...exceeds(
          'earned_by_volume_of_net_deposits',
          sum(depositors.map((one) => one.earned)),
          sum(depositors.map((one) => one.netDeposits)),
          view.currency,
        ),
      ]
      if (figures.length === 0) return []
      return [
        {
          subject,
          figures,
          sentence,
          evidence: evidenceOf(
            parts.flatMap(({ customer, facts }) => facts.map((fact) => ({ customer, fact }))),
          ),
        },
      ]
    })
  },
  sees: `What unit rules paid for each customer, the spread and commission that were charged, and the net deposits of ${MAX_DAYS} days.`,
  cannotSee:
    'Older deposits, and gains: a customer who withdrew what they won looks worse than they are. Tiers count at their first step, and limits of a rule are not seen.',
})

interface Sums {
  readonly customer: Seen
  readonly earned: Decimal
  readonly charged: Decimal
  /** Deposits less withdrawals up to the day; null without a deposit. */
  readonly netDeposits: Decimal | null
  readonly facts: readonly Fact[]
}

function sumsOf(view: View, customer: Seen, first: number, last: number): Omit<Sums, 'customer'> {
  const approved = (resource: FactResource, from: number) =>
    ownFacts(customer, resource, from, last).filter(({ state }) => state === 'approved')
  const amount = (of: readonly Fact[], field: string) =>
    sum(of.map((fact) => view.convert(fact, field) ?? ZERO))
  const trading = approved('trading-activity', first)
  const money = approved('transactions', last - MAX_DAYS + 1)
  const deposits = money.filter(({ kind }) => kind === 'deposit')
  const withdrawals = money.filter(({ kind }) => kind === 'withdrawal')
  return {
    earned: sum(
      customer.unitEarnings
        .filter(({ day }) => day >= first && day <= last)
        .map((one) => one.amount),
    ),
    charged: add(amount(trading, 'spread_cost'), amount(trading, 'commission')),
    netDeposits:
      deposits.length > 0
        ? subtract(amount(deposits, 'amount_currency'), amount(withdrawals, 'amount_currency'))
        : null,
    facts: trading,
  }
}
