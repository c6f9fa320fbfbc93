import type { Fact } from '../../commission/engine/facts.ts'
import { wordsFor } from '../../commission/run/select-facts.ts'
import { counted, figure } from '../../commission/words/english.ts'
import { isPositive } from '../../platform/money/decimal.ts'
import { objectOf } from '../../platform/validation/shapes.ts'
import { customersWith, isNamed } from '../db/candidates.ts'
import { atLeast, moreThan, percentFigure, reachesPercent, totalOf } from '../figures.ts'
import { aboutAffiliate, defineKind, factsOf, type OwnFact } from '../kind.ts'
import { count, days, share } from '../parameters.ts'

const PAID = new Set(['challenge_fee', 'reset_fee', 'deposit'])
const TAKEN_BACK = new Set(['reversed', 'declined'])

/** Many fees and deposits that were reversed, declined or refunded. */
export const reversals = defineKind({
  kind: 'reversals',
  name: 'Reversed, declined and refunded payments',
  severity: 'medium',
  verticals: ['prop-trading', 'forex'],
  parameters: objectOf({
    percent: share('20', 'Share of the approved amount'),
    min_count: count(
      5,
      'Fewest fees and deposits',
      'That were reversed, declined or refunded.',
      'transactions',
    ),
    days: days(30, 'Days in which they are counted'),
  }),
  words: ({ percent, min_count, days: window }) => ({
    when: `in ${counted(window, 'day')} at least ${min_count === 1 ? '1 fee or deposit was' : `${figure(String(min_count))} fees and deposits were`} reversed, declined or refunded, and they reach ${figure(percent)} % of the approved amount`,
  }),
  reach: ({ days: window }) => ({ transactions: window }),
  candidates: (_, { settings: { statusMap } }) => ({
    sql: customersWith(
      'transactions',
      `(t.transaction_type = 'refund' or ${isNamed('t.transaction_type', [...PAID])}
        and ${isNamed('t.status', wordsFor(statusMap, ['reversed', 'declined']))})`,
    ),
  }),
  glance: () => ({
    reach: { transactions: 1 },
    isSuspect: (view, day) => factsOf(view, 'transactions', day, day).some(isTakenBack),
  }),
  find(view, day, { percent, min_count, days: window }) {
    const own = factsOf(view, 'transactions', day - window + 1, day)
    const broken = own.filter(isTakenBack)
    if (broken.length < min_count || !broken.some(({ fact }) => fact.day === day)) return []
    const approved = own.filter(({ fact }) => PAID.has(fact.kind) && fact.state === 'approved')
    const lost = totalOf(view, broken.map(factIn))
    const kept = totalOf(view, approved.map(factIn))
    const hasKept = isPositive(kept)
    if (hasKept ? !reachesPercent(lost, kept, percent) : !isPositive(lost)) return []
    const amount = hasKept
      ? percentFigure('share_of_the_approved_amount', lost, kept, percent)
      : moreThan('amount_that_was_taken_back', lost, 0, view.currency)
    const figures = [
      atLeast('reversed_declined_or_refunded', broken.length, min_count, 'transactions'),
      amount,
    ]
    const sentence = `${figure(String(broken.length))} fees and deposits were reversed, declined or refunded in ${counted(window, 'day')}.`
    return [aboutAffiliate(view, figures, sentence, broken)]
  },
  titles: {
    amount_that_was_taken_back: 'Amount reversed, declined or refunded',
    reversed_declined_or_refunded: 'Reversed, declined or refunded',
  },
  sees: 'The status of each fee, deposit and refund, by the status map of the account.',
  cannotSee: 'Why a payment was reversed. An amount without a rate is left out of the share.',
})

const isTakenBack = ({ fact }: OwnFact): boolean =>
  (PAID.has(fact.kind) && TAKEN_BACK.has(fact.state)) ||
  (fact.kind === 'refund' && fact.state === 'approved')

const factIn = ({ fact }: OwnFact): Fact => fact
