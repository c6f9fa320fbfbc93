import {
  compare,
  decimal,
  integer,
  isPositive,
  multiply,
  ONE,
  ZERO,
} from '../../commission/engine/decimal.ts'
import type { Fact } from '../../commission/engine/facts.ts'
import { counted, figure } from '../../commission/engine/reasons.ts'
import { objectOf } from '../../commission/plans/shapes.ts'
import { customersWith } from '../../db/fraud/candidates.ts'
import { said } from '../../validation/fields.ts'
import { overFigure, partOf, type Total, totalOf, underFigure, withParts } from '../figures.ts'
import { defineKind, evidenceOf, type Finding, ownFacts, type Seen, type View } from '../kind.ts'
import { isFee } from '../money-records.ts'
import { above0, days, MAX_DAYS } from '../parameters.ts'

/** A payout is paid up to so many days after the customer asked for it. What they win or lose meanwhile is not paid. */
const MOST_DAYS_TO_PAY = 3

/** A payout to a customer who did not trade, or who won less than it. */
export const payoutWithoutTrading = defineKind({
  kind: 'payout_without_trading',
  name: 'Payouts without trading',
  severity: 'high',
  verticals: ['prop-trading'],
  parameters: objectOf({
    days: days(30, said('The days before the payout without trading.')),
    times: above0(
      '1',
      said('How many times the profit since the last payout the payout must exceed.'),
    ),
  }),
  labels: {
    days: { label: 'Days without trading', is: 'whole', unit: 'days', hint: 'Before the payout.' },
    times: {
      label: 'Times the profit',
      is: 'amount',
      unit: 'times',
      hint: 'Since the last payout, or of an account that was bought since; a payout of more opens a case.',
    },
  },
  words: ({ days: window, times }) => ({
    when: `a customer was paid out without trading in the ${counted(window, 'day')} before, or more than ${Number(times) === 1 ? '' : `${figure(times)} times `}the profit since the last payout`,
    more: [
      `Losses of the ${counted(MOST_DAYS_TO_PAY, 'day')} before the payout and losses before the last fee for a challenge or a reset do not count.`,
    ],
  }),
  reach: () => ({ transactions: MAX_DAYS, 'trading-activity': MAX_DAYS }),
  candidates: () => ({ sql: customersWith('transactions', `t.transaction_type = 'payout'`) }),
  find(view, day, { days: window, times }) {
    return view.customers.flatMap((customer): Finding[] => {
      const payouts = ownFacts(customer, 'transactions', day - MAX_DAYS + 1, day).filter(isPayout)
      const today = payouts.filter((one) => one.day === day)
      if (today.length === 0) return []
      const trading = ownFacts(customer, 'trading-activity', day - MAX_DAYS + 1, day)
      const subject = { customer_id: customer.customer_id }
      const evidence = (facts: readonly Fact[]) =>
        evidenceOf(facts.map((fact) => ({ customer, fact })))
      if (!trading.some((one) => one.day > day - window)) {
        return [
          {
            subject,
            figures: [
              withParts(underFigure('days_with_trading', ZERO, ONE, 'days'), [
                partOf('days_before_the_payout', integer(window), 'days', {
                  first: day - window + 1,
                  last: day,
                }),
              ]),
            ],
            sentence: `The customer was paid out without trading in the ${counted(window, 'day')} before.`,
            evidence: evidence(today),
          },
        ]
      }
      const before = payouts.findLast((one) => one.day < day)?.day
      const { won, profit } = mostWon(view, customer, before, day)
      const paid = totalOf(view, today)
      const most = isPositive(profit.sum) ? multiply(profit.sum, decimal(times)) : ZERO
      if (compare(paid.sum, most) <= 0) return []
      return [
        {
          subject,
          figures: [
            withParts(
              overFigure('payout', paid.sum, most, view.currency),
              [partOf('profit', profit.sum, view.currency)],
              [...paid.leftOut, ...profit.leftOut],
            ),
          ],
          sentence: 'The payout is more than the customer won since the last payout.',
          evidence: evidence([...today, ...won]),
        },
      ]
    })
  },
  titles: {
    profit: 'Profit since the last payout',
  },
  sees: 'Payouts, fees, and the trading activity of each customer by day.',
  cannotSee: `Profits of more than ${MAX_DAYS} days ago, the profit split of the contract, which of several accounts was paid, and when the payout was asked for: it is taken for the day of the last ${MOST_DAYS_TO_PAY + 1} on which the profit was largest.`,
})

const NOTHING: Total = { sum: ZERO, leftOut: [] }

/**
 * Returns the largest profit that a payout can be for. It ends on a day on which the payout can have been asked for, and
 * begins after the last payout was asked for, or with an account that the customer bought since: losses of
 * earlier accounts do not count.
 *
 * @param before The day of the last payout.
 */
function mostWon(view: View, customer: Seen, before: number | undefined, day: number) {
  const first = day - MAX_DAYS + 1
  const trading = ownFacts(customer, 'trading-activity', first, day)
  const fees = ownFacts(customer, 'transactions', (before ?? first) + 1, day).filter(isFee)
  const begins = [
    ...(before === undefined ? [first] : splitsBefore(before)),
    ...fees.flatMap((fee) => [fee.day, fee.day + 1]),
  ]
  let most: { readonly won: readonly Fact[]; readonly profit: Total } | null = null
  for (const from of begins.sort((a, b) => a - b)) {
    for (const end of splitsBefore(day).reverse()) {
      const won = trading.filter((one) => one.day >= from && one.day < end)
      const profit = totalOf(view, won, () => 'pnl')
      if (won.length > 0 && (!most || compare(profit.sum, most.profit.sum) > 0))
        most = { won, profit }
    }
  }
  return most ?? { won: [], profit: NOTHING }
}

/**
 * Returns the days before which the trades of a payout can end, in order. Of the day on which it was asked for, as of
 * the day of a fee, it is not known which trades came before.
 */
const splitsBefore = (paid: number): number[] =>
  Array.from({ length: MOST_DAYS_TO_PAY + 2 }, (_, i) => paid - MOST_DAYS_TO_PAY + i)

const isPayout = ({ kind, state }: Fact): boolean => kind === 'payout' && state === 'approved'
