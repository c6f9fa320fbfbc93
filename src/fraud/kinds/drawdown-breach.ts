import * as v from 'valibot'
import { amountOf, valueOn } from '../../commission/engine/facts.ts'
import { positive, wholeNumber } from '../../commission/plans/decimals.ts'
import { counted, figure } from '../../commission/words/english.ts'
import { decimal, fromFact } from '../../platform/money/decimal.ts'
import * as f from '../../platform/validation/fields.ts'
import { exactOptional, member, said } from '../../platform/validation/fields.ts'
import { objectOf } from '../../platform/validation/shapes.ts'
import { customersWith } from '../db/candidates.ts'
import { exceeds } from '../figures.ts'
import { aboutCustomer, defineKind, ownFacts, type Seen } from '../kind.ts'
import { isFee } from '../money-records.ts'
import { documented, parameter, percent } from '../parameters.ts'

const FAILED = 'failed'

const limits = objectOf({
  challenge_type: member(
    f.text,
    said('The type of the challenge. Of several, the first counts.', '2-step'),
  ),
  daily: exactOptional(positive, said('The limit of the drawdown of a day, in percent.', '4')),
  total: exactOptional(positive, said('The limit of the maximum drawdown, in percent.', '8')),
})

const BY_CHALLENGE = { label: 'Other limits by challenge', is: 'limits' } as const

/** A customer who broke the drawdown rules of a challenge, and whose phase says nothing of it. */
export const drawdownBreach = defineKind({
  kind: 'drawdown_breach',
  name: 'Breached drawdown without a failed phase',
  severity: 'medium',
  verticals: ['prop-trading'],
  parameters: objectOf({
    daily: percent('5', 'Limit of the daily drawdown'),
    total: percent('10', 'Limit of the maximum drawdown'),
    grace_days: parameter(wholeNumber(0, 30), 2, {
      label: 'Days until the phase is failed',
      is: 'whole',
      unit: 'days',
      hint: 'No case opens before they are over.',
    }),
    by_challenge_type: {
      ...v.optional(
        documented(v.array(limits), BY_CHALLENGE, [{ challenge_type: '2-step', daily: '4' }]),
        [],
      ),
      label: BY_CHALLENGE,
    },
  }),
  words: ({ daily, total, grace_days, by_challenge_type }) => ({
    when: `the drawdown of a customer was more than ${figure(daily)} % on one day or more than ${figure(total)} % in all, and the phase was not failed ${grace_days === 0 ? 'on that day' : `within ${counted(grace_days, 'day')}`}`,
    more: [
      `A customer who paid for another challenge or a reset ${grace_days === 0 ? 'on that day' : 'meanwhile'} is left out.`,
      ...by_challenge_type.map(
        (own) =>
          `In the challenge ${own.challenge_type} the limits are ${figure(own.daily ?? daily)} % on one day and ${figure(own.total ?? total)} % in all.`,
      ),
    ],
  }),
  reach: ({ grace_days }) => ({
    transactions: grace_days + 1,
    'trading-activity': grace_days + 1,
  }),
  candidates: ({ daily, total, grace_days, by_challenge_type }) => {
    const least = (limits: readonly (string | undefined)[]) =>
      Math.min(...limits.map(Number).filter(Number.isFinite))
    return {
      sql: customersWith('activity', '(t.drawdown > :daily or t.max_drawdown > :total)'),
      values: {
        daily: least([daily, ...by_challenge_type.map((one) => one.daily)]),
        total: least([total, ...by_challenge_type.map((one) => one.total)]),
      },
      after: grace_days,
    }
  },
  find(view, day, { daily, total, grace_days, by_challenge_type }) {
    const breached = day - grace_days
    return view.customers.flatMap((customer) => {
      if (hasFailed(customer, breached, day)) return []
      // The breach ended with its account: the phase is that of another one.
      if (ownFacts(customer, 'transactions', breached, day).some(isFee)) return []
      const type = valueOn(customer.fields, breached)?.challenge_type ?? ''
      const own = by_challenge_type.find((one) => one.challenge_type === type)
      const limits = { drawdown: own?.daily ?? daily, max_drawdown: own?.total ?? total }
      const found = ownFacts(customer, 'trading-activity', breached, breached)
        .map((fact) => ({
          fact,
          figures: Object.entries(limits).flatMap(([name, limit]) =>
            exceeds(name, fromFact(amountOf(fact, name)), decimal(limit), 'percent'),
          ),
        }))
        .filter(({ figures }) => figures.length > 0)
      const figures = found.flatMap((one) => one.figures)
      const [worst] = figures
      if (!worst) return []
      const sentence = `The drawdown was ${figure(worst.value)} %, more than ${figure(worst.threshold)} %, and the phase is not failed.`
      const facts = found.map(({ fact }) => fact)
      return [aboutCustomer(customer, figures, sentence, facts)]
    })
  },
  sees: 'The drawdown of each row of trading activity, the phase of the customer by day, and approved fees.',
  cannotSee:
    'What the drawdown was within the day, whether a fee of that day was paid before it, and exceptions that the firm granted.',
})

/** Returns whether the phase of a customer is failed on a day of the range. */
const hasFailed = ({ fields }: Seen, from: number, to: number): boolean => {
  for (let day = from; day <= to; day++) {
    if (valueOn(fields, day)?.phase === FAILED) return true
  }
  return false
}
