import { counted } from '../../commission/engine/reasons.ts'
import { objectOf } from '../../commission/plans/shapes.ts'
import { customersWith } from '../../db/fraud/candidates.ts'
import { said } from '../../validation/fields.ts'
import { countFigure } from '../figures.ts'
import { defineKind, evidenceOf, ownFacts } from '../kind.ts'
import { isFee } from '../money-records.ts'
import { count, days } from '../parameters.ts'

/** A customer who bought many challenges and resets within a few days. */
export const resets = defineKind({
  kind: 'resets',
  name: 'Many challenges and resets',
  severity: 'low',
  verticals: ['prop-trading'],
  parameters: objectOf({
    count: count(5, said('The fewest fees of a customer for challenges and resets.')),
    days: days(14, said('The days in which they are counted.')),
  }),
  labels: {
    count: {
      label: 'Fewest fees',
      is: 'whole',
      unit: 'fees',
      hint: 'Of a customer, for challenges and resets.',
    },
    days: { label: 'Days in which they are counted', is: 'whole', unit: 'days' },
  },
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
      return [
        {
          subject: { customer_id: customer.customer_id },
          figures: [countFigure('fees', fees.length, least, 'fees')],
          sentence: `The customer paid ${counted(fees.length, 'fee')} for challenges and resets in ${counted(window, 'day')}.`,
          evidence: evidenceOf(fees.map((fact) => ({ customer, fact }))),
        },
      ]
    })
  },
  sees: 'The approved fees for challenges and their resets, by customer.',
  cannotSee: 'A person with several accounts is several customers here.',
})
