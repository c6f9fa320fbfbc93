import {
  compare,
  decimal,
  integer,
  isPositive,
  multiply,
  plainText,
  sum,
} from '../../commission/engine/decimal.ts'
import { counted } from '../../commission/engine/reasons.ts'
import { objectOf } from '../../commission/plans/shapes.ts'
import { defineKind } from '../kind.ts'
import { above0, atLeast0, count } from '../parameters.ts'

/** An affiliate who earned more than the revenue of its customers, over several periods. */
export const commissionOverRevenue = defineKind({
  kind: 'commission_over_revenue',
  verticals: ['prop-trading', 'forex', 'igaming'],
  parameters: objectOf({ periods: count(3), percent: above0('100'), min: atLeast0('1000') }),
  reach: () => ({}),
  find(view, day, { periods, percent, min }) {
    const over = view.periods.filter(({ last }) => last <= day)
    // It is evaluated once for each period, on the last day.
    if (over.at(-1)?.last !== day || over.length < periods) return []
    const evaluated = over.slice(-periods)
    const earned = sum(evaluated.map((one) => one.earned))
    const revenue = sum(evaluated.map((one) => one.revenue))
    const most = isPositive(revenue)
      ? multiply(revenue, multiply(decimal(percent), decimal('0.01')))
      : integer(0)
    if (compare(earned, decimal(min)) < 0 || compare(earned, most) <= 0) return []
    return [
      {
        subject: { affiliate_id: view.affiliate_id },
        figures: [
          {
            name: 'earned',
            value: plainText(earned),
            threshold: plainText(most),
            unit: view.currency,
          },
        ],
        sentence: `In ${counted(periods, 'period')} the affiliate earned more than ${percent} % of the net revenue of its customers.`,
        evidence: evaluated.map(({ statement, last }) => ({
          customer_id: null,
          resource: 'statements' as const,
          id: statement,
          day: last,
          delivery_id: undefined,
        })),
      },
    ]
  },
  sees: 'The statements of the affiliate, and the net revenue of its customers in the same periods.',
  cannotSee: 'Revenue that comes later. A new affiliate with advances looks worse than it is.',
})
