import { isSome } from '../../platform/money/decimal.ts'
import type { StatementHead } from '../run/draft.ts'
import type { Words } from '../words/words.ts'

/** The amounts of a balance that the language explains. */
const EXPLAINED = [
  'opening',
  'lines',
  'adjustments',
  'earned',
  'manual',
  'dropped',
  'closing',
] as const

/** An amount of a statement's balance, and what it is. */
export interface BalanceRow {
  readonly name: (typeof EXPLAINED)[number] | 'received' | 'total' | 'transferred' | 'payable'
  readonly title: string
  readonly amount: string
  /** Says what it is; empty if the title says it all. */
  readonly explanation: string
}

type Balance = Pick<
  StatementHead,
  | 'received'
  | 'transferred'
  | 'opening'
  | 'lines_sum'
  | 'adjustments_sum'
  | 'earned'
  | 'manual_sum'
  | 'total'
  | 'dropped'
  | 'closing'
  | 'payable'
>

/**
 * Returns how the payable amount of a statement comes about. What is 0 is left out, except for the result.
 *
 * @param nameOf Returns the name of a plan.
 */
export function balanceOf(
  statement: Balance,
  { text, period }: Pick<Words, 'text' | 'period'>,
  nameOf: (plan: string) => string,
): BalanceRow[] {
  const { received, transferred, adjustments_sum, earned, total, payable } = statement
  const row = (name: BalanceRow['name'], amount: string, of?: { plan: string; period: string }) => {
    const explained = EXPLAINED.find((one) => one === name)
    const explanation = explained ? text(`why.${explained}`) : of ? period(of.period) : ''
    const title = text(`balance.${name}`, { plan: of ? nameOf(of.plan) : '' })
    return { name, title, amount, explanation }
  }
  const some = (...args: Parameters<typeof row>) => (isSome(args[1]) ? [row(...args)] : [])
  return [
    ...some('opening', statement.opening),
    ...received.flatMap(({ amount, from, ...one }) =>
      some('received', amount, { plan: from, period: one.period }),
    ),
    ...(isSome(adjustments_sum)
      ? [row('lines', statement.lines_sum), row('adjustments', adjustments_sum)]
      : []),
    row('earned', earned),
    ...some('manual', statement.manual_sum),
    ...(total === payable || total === earned ? [] : some('total', total)),
    ...some('dropped', statement.dropped),
    ...(transferred
      ? some('transferred', transferred.amount, {
          plan: transferred.to,
          period: transferred.period,
        })
      : []),
    ...some('closing', statement.closing),
    row('payable', payable),
  ]
}
