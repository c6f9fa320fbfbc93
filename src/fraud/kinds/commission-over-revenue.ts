import * as v from 'valibot'
import {
  compare,
  type Decimal,
  decimal,
  integer,
  isPositive,
  multiply,
  negate,
  sum,
  ZERO,
} from '../../commission/engine/decimal.ts'
import type { Fact } from '../../commission/engine/facts.ts'
import { counted, figure } from '../../commission/engine/reasons.ts'
import { wholeNumber } from '../../commission/plans/decimals.ts'
import { objectOf } from '../../commission/plans/shapes.ts'
import { describeField, documentation } from '../../validation/fields.ts'
import { overFigure, reachedFigure, wholeBelowFigure } from '../figures.ts'
import { defineKind, type View } from '../kind.ts'
import {
  amountField,
  EVENTS_LABEL,
  type EventNames,
  eventNames,
  eventWords,
  isDeposit,
  isWithdrawal,
} from '../money-records.ts'
import { above0, atLeast0 } from '../parameters.ts'

/** The most periods: those of `MAX_DAYS`, and the days of the longest. */
const MOST_PERIODS = 12
const LONGEST = 31

/** An affiliate who earned more than the revenue of its customers, over several periods. */
export const commissionOverRevenue = defineKind({
  kind: 'commission_over_revenue',
  verticals: ['prop-trading', 'forex', 'igaming'],
  parameters: objectOf({
    periods: v.optional(
      describeField(
        wholeNumber(1, MOST_PERIODS),
        documentation('The last periods that are compared.', 3),
      ),
      3,
    ),
    percent: above0(
      '100',
      documentation('The percentage of the net revenue that the affiliate must earn more than.'),
    ),
    min: atLeast0(
      '1000',
      documentation('The least that the affiliate must have earned, in the currency of its plan.'),
    ),
    events: eventNames,
  }),
  labels: {
    periods: { label: 'Periods that are compared', is: 'whole', unit: 'periods' },
    percent: {
      label: 'Share of the net revenue',
      is: 'percent',
      hint: 'The affiliate must earn more.',
    },
    min: { label: 'Least earnings', is: 'decimal', hint: 'In the currency of the plan.' },
    events: EVENTS_LABEL,
  },
  words: ({ periods, percent, min, events }) => ({
    when: `the affiliate earned at least ${figure(min)} in ${counted(periods, 'period')}, in the currency of the plan, and more than ${figure(percent)} % of the net revenue of its customers`,
    more: eventWords(events),
  }),
  reach: ({ periods }) => {
    const all = periods * LONGEST
    return { transactions: all, 'trading-activity': all, activities: all, periods }
  },
  find(view, day, { periods, percent, min, events }) {
    const over = view.periods.filter(({ last }) => last <= day)
    // It is evaluated once for each period, on the last day.
    if (over.at(-1)?.last !== day || over.length < periods) return []
    const evaluated = over.slice(-periods)
    // A period without earnings lies between others: later statements must not decide of it.
    if ([evaluated[0], evaluated.at(-1)].some((one) => one?.statements.length === 0)) return []
    const earned = sum(evaluated.map((one) => one.earned))
    const revenue = sum(evaluated.map((one) => revenueOf(view, one.first, one.last, events)))
    const most = isPositive(revenue)
      ? multiply(revenue, multiply(decimal(percent), decimal('0.01')))
      : integer(0)
    if (compare(earned, decimal(min)) < 0 || compare(earned, most) <= 0) return []
    return [
      {
        subject: { affiliate_id: view.affiliate_id },
        figures: [
          overFigure('earned', earned, most, view.currency),
          reachedFigure('earned', earned, decimal(min), view.currency),
          wholeBelowFigure('net_revenue', revenue, earned, decimal(percent), view.currency),
        ],
        sentence: `In ${counted(periods, 'period')} the affiliate earned more than ${percent} % of the net revenue of its customers.`,
        evidence: evaluated.flatMap(({ statements, last }) =>
          statements.map((id) => ({
            customer_id: null,
            resource: 'statements' as const,
            id,
            day: last,
            delivery_id: undefined,
          })),
        ),
      },
    ]
  },
  sees: 'The statements of the affiliate, and the net revenue of its customers in the same periods.',
  cannotSee: 'Revenue that comes later. A new affiliate with advances looks worse than it is.',
})

const IN = new Set(['challenge_fee', 'reset_fee'])
const OUT = new Set(['payout', 'refund'])

/**
 * Returns the net revenue of the customers of a view. Of a prop firm: challenge and reset fees less payouts
 * and refunds (§15). Of a broker: spread cost and commission charged. Of a brand: deposits less withdrawals.
 */
function revenueOf(
  { customers, convert }: View,
  first: number,
  last: number,
  events: EventNames,
): Decimal {
  const amount = (fact: Fact, field: string): Decimal => convert(fact, field) ?? ZERO
  return sum(
    customers
      .flatMap(({ facts }) => facts)
      .filter(({ day, state }) => day >= first && day <= last && state === 'approved')
      .map((fact) => {
        if (fact.resource === 'trading-activity') {
          return sum([amount(fact, 'spread_cost'), amount(fact, 'commission')])
        }
        const [isIn, isOut] =
          fact.resource === 'transactions'
            ? [IN.has(fact.kind), OUT.has(fact.kind)]
            : [isDeposit(fact, events), isWithdrawal(fact, events)]
        if (isIn) return amount(fact, amountField(fact))
        if (isOut) return negate(amount(fact, amountField(fact)))
        return ZERO
      }),
  )
}
