import * as f from '../../validation/fields.ts'
import type { Issue } from '../../validation/issue.ts'
import { validateField } from '../../validation/strict-object.ts'
import type { PlanNames } from './named-facts.ts'
import type { Vocabulary } from './vocabulary.ts'

/** Returns an issue for each fact and country of a plan that accounts of this vertical never send. */
export const checkFacts = (names: PlanNames, vocabulary: Vocabulary): Issue[] => [
  ...checkKinds(names, vocabulary),
  ...checkCountries(names, vocabulary),
]

const checkKinds = ({ facts }: PlanNames, vocabulary: Vocabulary): Issue[] =>
  facts.flatMap(({ pointer, kind }) => {
    if ('transactions' in kind) {
      return checkTransactions(kind.transactions, `${pointer}/transactions`, vocabulary)
    }
    if ('activity' in kind) return checkActivity(kind.activity, `${pointer}/activity`, vocabulary)
    if (vocabulary.events) return []
    return [notSent(`${pointer}/event`, 'partners send `transactions` and `activity`, not events')]
  })

/** Partners send the countries of customers as codes; brands send any text. */
function checkCountries({ conditions }: PlanNames, { events }: Vocabulary): Issue[] {
  if (events) return []
  return conditions.flatMap(({ pointer, conditions: one }) =>
    (['countries', 'not_countries'] as const).flatMap((name) =>
      (one[name] ?? []).flatMap((value, i): Issue[] => {
        const { issue } = validateField(`${i}`, value, f.country)
        return issue ? [{ ...issue, pointer: `${pointer}/${name}${issue.pointer}` }] : []
      }),
    ),
  )
}

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
