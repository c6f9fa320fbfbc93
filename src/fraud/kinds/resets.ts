import { counted } from '../../commission/words/english.ts'
import { objectOf } from '../../platform/validation/shapes.ts'
import { customersWith } from '../db/candidates.ts'
import { atLeast } from '../figures.ts'
import { aboutCustomer, defineKind, ownFacts } from '../kind.ts'
import { isFee } from '../money-records.ts'
import { count, days } from '../parameters.ts'

/** A customer who bought many challenges and resets within a few days. */
export const resets = defineKind({
  kind: 'resets',
  name: 'Many challenges and resets',
  severity: 'low',
  verticals: ['prop-trading'],
  parameters: objectOf({
    count: count(5, 'Fewest fees', 'Of a customer, for challenges and resets.', 'fees'),
    days: days(14, 'Days in which they are counted'),
  }),
  words: ({ count: least, days: window }) => ({
    when: `a customer paid at least ${counted(least, 'fee')} for challenges and resets in ${counted(window, 'day')}`,
  }),
  reach: ({ days: window }) => ({ transactions: window }),
  candidates: () => ({
    sql: customersWith('transactions', `t.transaction_type in ('challenge_fee', 'reset_fee')`),
  }),
  find(view, day, { count: least, days: window }) {
    return view.customers.flatMap((customer) => {
      const fees = ownFacts(customer, 'transactions', day - window + 1, day).filter(isFee)
      if (fees.length < least || fees.at(-1)?.day !== day) return []
      const sentence = `The customer paid ${counted(fees.length, 'fee')} for challenges and resets in ${counted(window, 'day')}.`
      return [
        aboutCustomer(customer, [atLeast('fees', fees.length, least, 'fees')], sentence, fees),
      ]
    })
  },
  sees: 'The approved fees for challenges and their resets, by customer.',
  cannotSee: 'A person with several accounts is several customers here.',
})
