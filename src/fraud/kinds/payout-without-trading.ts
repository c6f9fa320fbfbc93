import {
  compare,
  decimal,
  isPositive,
  multiply,
  plainText,
  sum,
  ZERO,
} from '../../commission/engine/decimal.ts'
import type { Fact } from '../../commission/engine/facts.ts'
import { counted, figure } from '../../commission/engine/reasons.ts'
import { objectOf } from '../../commission/plans/shapes.ts'
import { documentation } from '../../validation/fields.ts'
import { countFigure } from '../figures.ts'
import { defineKind, evidenceOf, type Finding, ownFacts } from '../kind.ts'
import { above0, days, MAX_DAYS } from '../parameters.ts'

/** A payout to a customer who did not trade, or who won less than it. */
export const payoutWithoutTrading = defineKind({
  kind: 'payout_without_trading',
  verticals: ['prop-trading'],
  parameters: objectOf({
    days: days(30, documentation('The days before the payout without trading.')),
    times: above0(
      '1',
      documentation('How many times the profit since the last payout the payout must exceed.'),
    ),
  }),
  labels: {
    days: { label: 'Days without trading', is: 'whole', unit: 'days', hint: 'Before the payout.' },
    times: {
      label: 'Times the profit',
      is: 'decimal',
      unit: 'times',
      hint: 'Since the last payout; a payout of more opens a case.',
    },
  },
  words: ({ days: window, times }) => ({
    when: `a customer was paid out without trading in the ${counted(window, 'day')} before, or more than ${Number(times) === 1 ? '' : `${figure(times)} times `}the profit since the last payout`,
  }),
  reach: () => ({ transactions: MAX_DAYS, 'trading-activity': MAX_DAYS }),
  find(view, day, { days: window, times }) {
    return view.customers.flatMap((customer): Finding[] => {
      const payouts = ownFacts(customer, 'transactions', day - MAX_DAYS + 1, day).filter(isPayout)
      const today = payouts.filter((one) => one.day === day)
      if (today.length === 0) return []
      const since = payouts.findLast((one) => one.day < day)?.day ?? day - MAX_DAYS
      const trading = ownFacts(customer, 'trading-activity', day - MAX_DAYS + 1, day)
      const subject = { customer_id: customer.customer_id }
      const evidence = (facts: readonly Fact[]) =>
        evidenceOf(facts.map((fact) => ({ customer, fact })))
      if (!trading.some((one) => one.day > day - window)) {
        return [
          {
            subject,
            figures: [countFigure('days_with_trading', 0, 1, 'days')],
            sentence: `The customer was paid out without trading in the ${counted(window, 'day')} before.`,
            evidence: evidence(today),
          },
        ]
      }
      const amount = (facts: readonly Fact[], field: string) =>
        sum(facts.map((fact) => view.convert(fact, field) ?? ZERO))
      const won = trading.filter((one) => one.day > since)
      const profit = amount(won, 'pnl')
      const paid = amount(today, 'amount_currency')
      const most = isPositive(profit) ? multiply(profit, decimal(times)) : ZERO
      if (compare(paid, most) <= 0) return []
      return [
        {
          subject,
          figures: [
            {
              name: 'payout',
              value: plainText(paid),
              threshold: plainText(most),
              unit: view.currency,
            },
          ],
          sentence: 'The payout is more than the customer won since the last payout.',
          evidence: evidence([...today, ...won]),
        },
      ]
    })
  },
  sees: 'Payouts, and the trading activity of each customer by day.',
  cannotSee: `Profits of more than ${MAX_DAYS} days ago. The profit split of the contract.`,
})

const isPayout = ({ kind, state }: Fact): boolean => kind === 'payout' && state === 'approved'
