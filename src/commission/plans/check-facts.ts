import type { Issue } from '../../validation/issue.ts'
import type { PlanNames } from './named-facts.ts'
import type { Vocabulary } from './vocabulary.ts'

/** Returns an issue for each fact of a plan that accounts of this vertical never send. */
export const checkFacts = ({ facts }: PlanNames, vocabulary: Vocabulary): Issue[] =>
  facts.flatMap(({ pointer, kind }) => {
    if ('transactions' in kind) {
      return checkTransactions(kind.transactions, `${pointer}/transactions`, vocabulary)
    }
    if ('activity' in kind) return checkActivity(kind.activity, `${pointer}/activity`, vocabulary)
    if (vocabulary.events) return []
    return [notSent(`${pointer}/event`, 'partners send `transactions` and `activity`, not events')]
  })

const notSent = (pointer: string, expected: string): Issue => ({
  pointer,
  code: 'not_applicable',
  expected,
})

const OF_BRANDS = 'brands send events'

function checkTransactions(
  types: readonly string[],
  pointer: string,
  { transactions }: Vocabulary,
): Issue[] {
  if (!transactions) return [notSent(pointer, `${OF_BRANDS}, not transactions`)]
  return types.flatMap((value, i): Issue[] =>
    transactions.includes(value)
      ? []
      : [{ pointer: `${pointer}/${i}`, code: 'enum', expected: transactions.join(', '), value }],
  )
}

function checkActivity(field: string, pointer: string, { activity }: Vocabulary): Issue[] {
  if (!activity) return [notSent(pointer, `${OF_BRANDS}, not trading activity`)]
  if (activity.includes(field)) return []
  return [notSent(pointer, 'the trading activity of this vertical has no such field')]
}
