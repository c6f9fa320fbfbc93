import { amountOf, type Fact } from '../../commission/engine/facts.ts'
import { counted, figure } from '../../commission/words/english.ts'
import { compare, decimal, isPositive, multiply } from '../../platform/money/decimal.ts'
import { objectOf } from '../../platform/validation/shapes.ts'
import { customersWith } from '../db/candidates.ts'
import { lessThan, moreThan, totalOf } from '../figures.ts'
import { aboutCustomer, defineKind, type Finding, ownFacts } from '../kind.ts'
import { above0, days, MAX_DAYS } from '../parameters.ts'

/** A payout is paid up to so many days after the customer asked for it: what they won meanwhile is of the next one. */
const MOST_DAYS_TO_PAY = 3

/** A payout to a customer who did not trade, or who won less than it. */
export const payoutWithoutTrading = defineKind({
  kind: 'payout_without_trading',
  name: 'Payouts without trading',
  severity: 'high',
  verticals: ['prop-trading'],
  parameters: objectOf({
    days: days(30, 'Days without trading', 'Before the payout.'),
    times: above0(
      '1',
      'Times the profit',
      'What was won since the last payout, without losses; a payout of more opens a case.',
      'times',
    ),
  }),
  words: ({ days: window, times }) => ({
    when: `a customer was paid out without trading in the ${counted(window, 'day')} before, or more than ${Number(times) === 1 ? '' : `${figure(times)} times `}what they won since the last payout`,
    more: [
      `Losses do not count, and what was won in the ${counted(MOST_DAYS_TO_PAY, 'day')} before the last payout still does.`,
    ],
  }),
  reach: () => ({ transactions: MAX_DAYS, 'trading-activity': MAX_DAYS }),
  candidates: () => ({ sql: customersWith('transactions', `t.transaction_type = 'payout'`) }),
  find(view, day, { days: window, times }) {
    return view.customers.flatMap((customer): Finding[] => {
      const first = day - MAX_DAYS + 1
      const payouts = ownFacts(customer, 'transactions', first, day).filter(isPayout)
      const today = payouts.filter((one) => one.day === day)
      if (today.length === 0) return []
      const trading = ownFacts(customer, 'trading-activity', first, day)
      if (!trading.some((one) => one.day > day - window)) {
        const figures = [lessThan('days_with_trading', 0, 1, 'days')]
        const sentence = `The customer was paid out without trading in the ${counted(window, 'day')} before.`
        return [aboutCustomer(customer, figures, sentence, today)]
      }
      const before = payouts.findLast((one) => one.day < day)?.day ?? first
      const won = trading.filter(
        (one) => one.day >= before - MOST_DAYS_TO_PAY && amountOf(one, 'pnl') > 0n,
      )
      const profit = totalOf(view, won, () => 'pnl')
      const paid = totalOf(view, today)
      const most = multiply(profit, decimal(times))
      if (!isPositive(paid) || compare(paid, most) <= 0) return []
      const figures = [moreThan('payout', paid, most, view.currency, `${times} times what was won`)]
      const sentence = 'The payout is more than the customer won since the last payout.'
      return [aboutCustomer(customer, figures, sentence, [...today, ...won])]
    })
  },
  sees: 'Payouts and the trading activity of each customer by day.',
  cannotSee: `Profits of more than ${MAX_DAYS} days ago, the profit split of the contract, losses after what was won, and which of several accounts was paid.`,
})

const isPayout = ({ kind, state }: Fact): boolean => kind === 'payout' && state === 'approved'
