import * as v from 'valibot'
import {
  compare,
  type Decimal,
  decimal,
  fromFact,
  plainText,
} from '../../commission/engine/decimal.ts'
import { amountOf, valueOn } from '../../commission/engine/facts.ts'
import { figure } from '../../commission/engine/reasons.ts'
import { positive, wholeNumber } from '../../commission/plans/decimals.ts'
import { objectOf } from '../../commission/plans/shapes.ts'
import { defineKind, evidenceOf, type Figure, ownFacts, type Seen } from '../kind.ts'
import { above0 } from '../parameters.ts'

const FAILED = 'failed'

const limits = objectOf({ daily: v.exactOptional(positive), total: v.exactOptional(positive) })

/** A customer who broke the drawdown rules of a challenge, and whose phase says nothing of it. */
export const drawdownBreach = defineKind({
  kind: 'drawdown_breach',
  verticals: ['prop-trading'],
  parameters: objectOf({
    daily: above0('5'),
    total: above0('10'),
    grace_days: v.optional(wholeNumber(0, 30), 2),
    by_challenge_type: v.optional(v.record(v.pipe(v.string(), v.minLength(1)), limits), {}),
  }),
  reach: ({ grace_days }) => ({ 'trading-activity': grace_days + 1 }),
  find(view, day, { daily, total, grace_days, by_challenge_type }) {
    const breached = day - grace_days
    return view.customers.flatMap((customer) => {
      if (hasFailed(customer, breached, day)) return []
      const type = valueOn(customer.fields, breached)?.challenge_type ?? ''
      const own = Object.hasOwn(by_challenge_type, type) ? by_challenge_type[type] : undefined
      const rows = ownFacts(customer, 'trading-activity', breached, breached).map((fact) => ({
        fact,
        figures: [
          ...above('drawdown', fromFact(amountOf(fact, 'drawdown')), own?.daily ?? daily),
          ...above('max_drawdown', fromFact(amountOf(fact, 'max_drawdown')), own?.total ?? total),
        ],
      }))
      const found = rows.filter(({ figures }) => figures.length > 0)
      const [first] = found
      const [worst] = first?.figures ?? []
      if (!worst) return []
      return [
        {
          subject: { customer_id: customer.customer_id },
          figures: found.flatMap(({ figures }) => figures),
          sentence: `The drawdown was ${figure(worst.value)} %, more than ${figure(worst.threshold)} %, and the phase is not failed.`,
          evidence: evidenceOf(found.map(({ fact }) => ({ customer, fact }))),
        },
      ]
    })
  },
  sees: 'The drawdown of each row of trading activity, and the phase of the customer by day.',
  cannotSee: 'What the drawdown was within the day, and exceptions that the firm granted.',
})

/** Returns a figure if a drawdown is above its limit. */
const above = (name: string, value: Decimal, limit: string): Figure[] =>
  compare(value, decimal(limit)) > 0
    ? [{ name, value: plainText(value), threshold: limit, unit: 'percent' }]
    : []

/** Returns whether the phase of a customer is failed on a day of the range. */
const hasFailed = ({ fields }: Seen, from: number, to: number): boolean => {
  for (let day = from; day <= to; day++) {
    if (valueOn(fields, day)?.phase === FAILED) return true
  }
  return false
}
