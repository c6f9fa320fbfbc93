import { decimal, isPositive, multiply, ZERO } from '../../commission/engine/decimal.ts'
import type { Fact } from '../../commission/engine/facts.ts'
import { counted, figure } from '../../commission/engine/reasons.ts'
import { objectOf } from '../../commission/plans/shapes.ts'
import { wordsFor } from '../../commission/statements/select-facts.ts'
import { customersWith, isNamed } from '../../db/fraud/candidates.ts'
import { said } from '../../validation/fields.ts'
import {
  countFigure,
  overFigure,
  partOf,
  percentFigure,
  reachedFigure,
  reachesPercent,
  totalOf,
  withParts,
} from '../figures.ts'
import { defineKind, evidenceOf, factsOf, type OwnFact } from '../kind.ts'
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
    percent: share(
      '20',
      said('The share of the approved amount, in percent, from which a case opens.'),
    ),
    min_count: count(5, said('The fewest reversed, declined or refunded fees and deposits.')),
    days: days(30, said('The days in which they are counted.')),
  }),
  labels: {
    percent: { label: 'Share of the approved amount', is: 'percent' },
    min_count: {
      label: 'Fewest fees and deposits',
      is: 'whole',
      unit: 'transactions',
      hint: 'That were reversed, declined or refunded.',
    },
    days: { label: 'Days in which they are counted', is: 'whole', unit: 'days' },
  },
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
    const days = { first: day - window + 1, last: day }
    const own = factsOf(view, 'transactions', days.first, days.last)
    const broken = own.filter(isTakenBack)
    if (!broken.some(({ fact }) => fact.day === day)) return []
    const approved = own.filter(({ fact }) => PAID.has(fact.kind) && fact.state === 'approved')
    const { sum: lost, leftOut } = totalOf(view, broken.map(factIn))
    const { sum: kept, leftOut: keptLeftOut } = totalOf(view, approved.map(factIn))
    const all = [...leftOut, ...keptLeftOut]
    const parts = [
      partOf('taken_back', lost, view.currency),
      partOf('approved_amount', kept, view.currency, days),
    ]
    const reaches = isPositive(kept) ? reachesPercent(lost, kept, percent) : isPositive(lost)
    const least = multiply(kept, multiply(decimal(percent), decimal('0.01')))
    if (broken.length < min_count || !reaches) return []
    return [
      {
        subject: { affiliate_id: view.affiliate_id },
        figures: [
          countFigure('reversed_declined_or_refunded', broken.length, min_count, 'transactions'),
          ...(isPositive(kept)
            ? [
                withParts(
                  percentFigure('share_of_the_approved_amount', lost, kept, percent),
                  parts,
                  all,
                ),
                withParts(
                  reachedFigure('amount_that_was_taken_back', lost, least, view.currency),
                  parts.slice(1),
                  all,
                ),
              ]
            : [
                withParts(
                  overFigure('amount_that_was_taken_back', lost, ZERO, view.currency),
                  parts.slice(1),
                  all,
                ),
              ]),
        ],
        sentence: `${figure(String(broken.length))} fees and deposits were reversed, declined or refunded in ${counted(window, 'day')}.`,
        evidence: evidenceOf(broken),
      },
    ]
  },
  titles: {
    amount_that_was_taken_back: 'Amount reversed, declined or refunded',
    reversed_declined_or_refunded: 'Reversed, declined or refunded',
    taken_back: 'Reversed, declined or refunded',
  },
  sees: 'The status of each fee, deposit and refund, by the status map of the account.',
  cannotSee: 'Why a payment was reversed. An amount without a rate is left out of the share.',
})

const isTakenBack = ({ fact }: OwnFact): boolean =>
  (PAID.has(fact.kind) && TAKEN_BACK.has(fact.state)) ||
  (fact.kind === 'refund' && fact.state === 'approved')

const factIn = ({ fact }: OwnFact): Fact => fact
