import type { Fact, FactResource } from '../../commission/engine/facts.ts'
import { notNegative, wholeNumber } from '../../commission/plans/decimals.ts'
import { counted, figure } from '../../commission/words/english.ts'
import {
  compare,
  type Decimal,
  decimal,
  integer,
  isPositive,
  multiply,
  subtract,
  sum,
} from '../../platform/money/decimal.ts'
import { objectOf } from '../../platform/validation/shapes.ts'
import { atLeast, moreThan, totalOf } from '../figures.ts'
import { defineKind, type PeriodEarning, statementsOf, type View } from '../kind.ts'
import {
  amountField,
  type EventNames,
  eventNames,
  isDeposit,
  isWithdrawal,
} from '../money-records.ts'
import { parameter, percent } from '../parameters.ts'

/** The most periods: those of `MAX_DAYS`, and the days of the longest. */
const MOST_PERIODS = 12
const LONGEST = 31

/** An affiliate who earned more than the revenue of its customers, over several periods. */
export const commissionOverRevenue = defineKind({
  kind: 'commission_over_revenue',
  name: 'Commission above the net revenue',
  severity: 'medium',
  verticals: ['prop-trading', 'forex', 'igaming'],
  parameters: objectOf({
    periods: parameter(wholeNumber(1, MOST_PERIODS), 3, {
      label: 'Periods that are compared',
      is: 'whole',
      unit: 'periods',
    }),
    percent: percent('100', 'Share of the net revenue', 'The affiliate must earn more.'),
    min: parameter(notNegative, '1000', {
      label: 'Least earnings',
      is: 'amount',
      hint: 'In the currency of the plan.',
    }),
    events: eventNames,
  }),
  words: ({ periods, percent, min }) => ({
    when: `the affiliate earned at least ${figure(min)} in ${counted(periods, 'period')}, in the currency of the plan, and more than ${figure(percent)} % of the net revenue of its customers`,
  }),
  reach: ({ periods }) => {
    const all = periods * LONGEST
    return { transactions: all, 'trading-activity': all, activities: all, periods }
  },
  glance: ({ periods, min }) => ({
    reach: { periods },
    isSuspect: (view, day) => {
      const evaluated = periodsUntil(view, day, periods)
      return evaluated !== null && compare(earnedIn(evaluated), decimal(min)) >= 0
    },
  }),
  find(view, day, { periods, percent, min, events }) {
    const evaluated = periodsUntil(view, day, periods)
    if (!evaluated) return []
    const earned = earnedIn(evaluated)
    const revenue = revenueOf(view, evaluated[0]?.first ?? day, day, events)
    const most = isPositive(revenue)
      ? multiply(revenue, multiply(decimal(percent), decimal('0.01')))
      : integer(0)
    if (compare(earned, decimal(min)) < 0 || compare(earned, most) <= 0) return []
    const { currency, affiliate_id } = view
    const figures = [
      moreThan('earned', earned, most, currency, `${percent} % of the net revenue`),
      atLeast('earned', earned, min, currency),
    ]
    const evidence = evaluated.flatMap(statementsOf)
    const sentence = `In ${counted(periods, 'period')} the affiliate earned more than ${percent} % of the net revenue of its customers.`
    return [{ subject: { affiliate_id }, figures, sentence, evidence }]
  },
  sees: 'The statements of the affiliate, and the net revenue of its customers in the same periods.',
  cannotSee: 'Revenue that comes later. A new affiliate with advances looks worse than it is.',
})

/** Returns the last periods on the last day of one, on which alone they are evaluated; else null. */
function periodsUntil(view: View, day: number, periods: number): readonly PeriodEarning[] | null {
  const over = view.periods.filter(({ last }) => last <= day)
  if (over.at(-1)?.last !== day || over.length < periods) return null
  const evaluated = over.slice(-periods)
  // A period without earnings lies between others: later statements must not decide of it.
  const ends = [evaluated[0], evaluated.at(-1)]
  return ends.some((one) => one?.statements.length === 0) ? null : evaluated
}

const earnedIn = (periods: readonly PeriodEarning[]) => sum(periods.map(({ earned }) => earned))

const IN = new Set(['challenge_fee', 'reset_fee'])
const OUT = new Set(['payout', 'refund'])

/**
 * Returns the net revenue of the customers of a view from a day to another. Of a prop firm: challenge and reset fees
 * less payouts and refunds (§15). Of a broker: spread cost and commission charged. Of a brand: deposits less
 * withdrawals.
 */
function revenueOf(view: View, first: number, last: number, events: EventNames): Decimal {
  const facts = view.customers
    .flatMap((one) => one.facts)
    .filter(({ day, state }) => day >= first && day <= last && state === 'approved')
  const sumOf = (resource: FactResource, is: (fact: Fact) => boolean, field = amountField) =>
    totalOf(
      view,
      facts.filter((fact) => fact.resource === resource && is(fact)),
      field,
    )
  const trading = (field: string) =>
    sumOf(
      'trading-activity',
      () => true,
      () => field,
    )
  const isIn = (fact: Fact) => isDeposit(fact, events)
  const isOut = (fact: Fact) => isWithdrawal(fact, events) && !isDeposit(fact, events)
  const fees = sumOf('transactions', ({ kind }) => IN.has(kind))
  const paid = sumOf('transactions', ({ kind }) => OUT.has(kind))
  const gains = [trading('spread_cost'), trading('commission'), fees, sumOf('activities', isIn)]
  return subtract(sum(gains), sum([paid, sumOf('activities', isOut)]))
}
