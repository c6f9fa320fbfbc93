import type { Presented } from '../export/read.ts'
import { isSome } from './line-groups.ts'

/** An amount of a statement's balance, and what it is. */
export interface BalanceRow {
  readonly name:
    | 'opening'
    | 'received'
    | 'lines'
    | 'adjustments'
    | 'manual'
    | 'total'
    | 'dropped'
    | 'transferred'
    | 'closing'
    | 'payable'
  readonly title: string
  readonly amount: string
  readonly explanation: string
  /** The plan that an amount comes from or goes to. */
  readonly plan?: string
}

type Balance = Pick<
  Presented,
  | 'received'
  | 'transferred'
  | 'opening'
  | 'lines_sum'
  | 'adjustments_sum'
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
  periodWords: (period: string) => string,
  nameOf: (plan: string) => string,
): BalanceRow[] {
  const { received, transferred, lines_sum, total, payable } = statement
  const row = (
    name: BalanceRow['name'],
    title: string,
    amount: string,
    explanation = '',
    plan?: string,
  ): BalanceRow[] =>
    isSome(amount) ? [{ name, title, amount, explanation, ...(plan && { plan }) }] : []
  return [
    ...row('opening', 'Carried in', statement.opening, 'What earlier periods and other plans left'),
    ...received.flatMap(({ amount, from, period }) =>
      row('received', `of it from the plan ${nameOf(from)}`, amount, periodWords(period), from),
    ),
    { name: 'lines', title: 'Earned', amount: lines_sum, explanation: 'What the rules pay' },
    ...row('adjustments', 'Corrections', statement.adjustments_sum, 'Of closed periods'),
    ...row('manual', 'Manual entries', statement.manual_sum, 'Of the team'),
    ...(total === payable || total === lines_sum ? [] : row('total', 'Together', total)),
    ...row('dropped', 'Written off', statement.dropped, 'A negative balance that is not carried'),
    ...(transferred
      ? row(
          'transferred',
          `Moved to the plan ${nameOf(transferred.to)}`,
          transferred.amount,
          periodWords(transferred.period),
          transferred.to,
        )
      : []),
    ...row('closing', 'Carried on', statement.closing, 'To the next period'),
    { name: 'payable', title: 'Payable', amount: payable, explanation: '' },
  ]
}
