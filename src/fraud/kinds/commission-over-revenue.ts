import { notNegative, wholeNumber } from '../../commission/plans/decimals.ts'
import { counted, figure } from '../../commission/words/english.ts'
import {
  compare,
  decimal,
  integer,
  isPositive,
  multiply,
  sum,
  ZERO,
} from '../../platform/money/decimal.ts'
import { objectOf } from '../../platform/validation/shapes.ts'
import { atLeast, moreThan } from '../figures.ts'
import { defineKind, type PeriodEarning, statementsOf, type View } from '../kind.ts'
import { eventNames } from '../money-records.ts'
import { parameter, percent } from '../parameters.ts'

/** The most periods: those of `MAX_DAYS`. */
const MOST_PERIODS = 12

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
  reach: ({ periods, events }) => ({ periods, revenue: events }),
  glance: ({ periods, min }) => ({
    reach: { periods },
    isSuspect: (view, day) => {
      const evaluated = periodsUntil(view, day, periods)
      return evaluated !== null && compare(earnedIn(evaluated), decimal(min)) >= 0
    },
  }),
  find(view, day, { periods, percent, min }) {
    const evaluated = periodsUntil(view, day, periods)
    if (!evaluated) return []
    const earned = earnedIn(evaluated)
    const revenue = sum(evaluated.map((one) => one.revenue ?? ZERO))
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
