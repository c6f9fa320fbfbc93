import {
  compare,
  decimal,
  integer,
  isPositive,
  multiply,
  negate,
  sum,
} from '../../commission/engine/decimal.ts'
import type { FactResource } from '../../commission/engine/facts.ts'
import { counted, figure } from '../../commission/engine/reasons.ts'
import { notNegative, wholeNumber } from '../../commission/plans/decimals.ts'
import { objectOf } from '../../platform/validation/shapes.ts'
import { atLeast, moreThan, partOf, totalOf, withParts } from '../figures.ts'
import { defineKind, type PeriodEarning, type View } from '../kind.ts'
import {
  amountField,
  type EventNames,
  eventNames,
  eventWords,
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
  words: ({ periods, percent, min, events }) => ({
    when: `the affiliate earned at least ${figure(min)} in ${counted(periods, 'period')}, in the currency of the plan, and more than ${figure(percent)} % of the net revenue of its customers`,
    more: eventWords(events),
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
    const days = { first: evaluated[0]?.first ?? day, last: day }
    const { revenue, parts, leftOut } = revenueOf(view, days, events)
    const most = isPositive(revenue)
      ? multiply(revenue, multiply(decimal(percent), decimal('0.01')))
      : integer(0)
    if (compare(earned, decimal(min)) < 0 || compare(earned, most) <= 0) return []
    const { currency, affiliate_id } = view
    const earnedLeftOut = evaluated.flatMap((one) => one.leftOut)
    const figures = [
      withParts(
        moreThan('earned', earned, most, currency),
        [
          ...evaluated.map((one) => partOf('earned', one.earned, currency, one)),
          partOf('net_revenue', revenue, currency, days),
          ...parts,
        ],
        [...earnedLeftOut, ...leftOut],
      ),
      withParts(atLeast('earned', earned, min, currency), [], earnedLeftOut),
    ]
    const evidence = evaluated.flatMap(({ statements, last }) =>
      statements.map((id) => ({
        ...{ customer_id: null, resource: 'statements' as const, id, day: last },
        delivery_id: undefined,
      })),
    )
    const sentence = `In ${counted(periods, 'period')} the affiliate earned more than ${percent} % of the net revenue of its customers.`
    return [{ subject: { affiliate_id }, figures, sentence, evidence }]
  },
  titles: {
    net_revenue: 'Net revenue of its customers',
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

/** The days of periods that follow one another. */
interface Days {
  readonly first: number
  readonly last: number
}

/**
 * Returns the net revenue of the customers of a view. Of a prop firm: challenge and reset fees less payouts
 * and refunds (§15). Of a broker: spread cost and commission charged. Of a brand: deposits less withdrawals.
 */
function revenueOf(view: View, days: Days, events: EventNames) {
  const facts = view.customers
    .flatMap((one) => one.facts)
    .filter(({ day, state }) => day >= days.first && day <= days.last && state === 'approved')
  const of = (resource: FactResource) => facts.filter((fact) => fact.resource === resource)
  const [trading, money, played] = [of('trading-activity'), of('transactions'), of('activities')]
  const withdrawals = played.filter(
    (fact) => isWithdrawal(fact, events) && !isDeposit(fact, events),
  )
  const sources = [
    { name: 'spread_cost', facts: trading, field: () => 'spread_cost' },
    { name: 'commission_charged', facts: trading, field: () => 'commission' },
    { name: 'fees', facts: money.filter(({ kind }) => IN.has(kind)) },
    { name: 'payouts_and_refunds', facts: money.filter(({ kind }) => OUT.has(kind)), isOut: true },
    { name: 'deposited', facts: played.filter((fact) => isDeposit(fact, events)) },
    { name: 'withdrawn', facts: withdrawals, isOut: true },
  ]
  const totals = sources
    .filter((one) => one.facts.length > 0)
    .map(({ name, facts: own, field = amountField, isOut = false }) => ({
      ...{ name, isOut },
      ...totalOf(view, own, field),
    }))
  return {
    revenue: sum(totals.map(({ sum: own, isOut }) => (isOut ? negate(own) : own))),
    parts: totals.map(({ name, sum: own }) => partOf(name, own, view.currency, days)),
    leftOut: totals.flatMap((one) => one.leftOut),
  }
}
