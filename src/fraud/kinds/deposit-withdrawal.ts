import {
  compare,
  type Decimal,
  decimal,
  fromFact,
  greatest,
  integer,
  isPositive,
  multiply,
  ONE,
  sum,
  ZERO,
} from '../../commission/engine/decimal.ts'
import { amountOf, type Fact } from '../../commission/engine/facts.ts'
import { counted, figure } from '../../commission/engine/reasons.ts'
import { objectOf } from '../../commission/plans/shapes.ts'
import { customersWith, isNamed } from '../../db/fraud/candidates.ts'
import { said } from '../../validation/fields.ts'
import {
  countFigure,
  partOf,
  percentFigure,
  reachesPercent,
  type Total,
  totalOf,
  underFigure,
  withParts,
} from '../figures.ts'
import { defineKind, evidenceOf, type Figure, type Finding, type Seen, type View } from '../kind.ts'
import {
  amountField,
  EVENTS_LABEL,
  type EventNames,
  eventNames,
  eventWords,
  isDeposit,
  isPlay,
  isWithdrawal,
} from '../money-records.ts'
import { above0, count, days, share } from '../parameters.ts'

/** The days whose first deposits are compared for the affiliate. */
const AFFILIATE_DAYS = 30

/** Customers who withdraw nearly all that they deposited, and hardly trade or bet. */
export const depositWithdrawal = defineKind({
  kind: 'deposit_withdrawal',
  name: 'Deposits that are withdrawn without play',
  severity: 'high',
  verticals: ['forex', 'igaming'],
  parameters: objectOf({
    percent: share(
      '90',
      said('The share of the deposits, in percent, that must have been withdrawn.'),
    ),
    days: days(7, said('The days from the first deposit on.')),
    lots: above0('0.1', said('A customer who traded as many lots is left out.')),
    share_percent: share(
      '30',
      said(
        'The share of the affiliate’s customers, in percent, from which a case of the affiliate opens.',
      ),
    ),
    min_customers: count(
      10,
      said('The fewest customers with a deposit that are compared for the affiliate.'),
    ),
    events: eventNames,
  }),
  labels: {
    percent: { label: 'Withdrawn share of the deposits', is: 'percent' },
    days: { label: 'Days from the first deposit on', is: 'whole', unit: 'days' },
    lots: {
      label: 'Lots',
      is: 'amount',
      unit: 'lots',
      hint: 'A customer who traded as many is left out.',
    },
    share_percent: {
      label: 'Share of the affiliate’s customers',
      is: 'percent',
      hint: 'From which a case of the affiliate opens.',
    },
    min_customers: {
      label: 'Fewest customers with a deposit',
      is: 'whole',
      unit: 'customers',
      hint: 'For a case of the affiliate.',
    },
    events: EVENTS_LABEL,
  },
  words: ({ percent, days: window, lots, share_percent, min_customers, events }) => ({
    when: `a customer withdrew ${figure(percent)} % of the deposits within ${counted(window, 'day')} of the first one, after less than ${figure(lots)} lots and no bet, or ${figure(share_percent)} % of at least ${counted(min_customers, 'customer')} with a first deposit in ${AFFILIATE_DAYS} days did so`,
    more: eventWords(events),
  }),
  reach: ({ days: window }) => {
    const all = window + AFFILIATE_DAYS
    return { transactions: all, 'trading-activity': all, activities: all }
  },
  candidates: ({ events }) => ({
    sql: `${customersWith('transactions', `t.transaction_type = 'withdrawal'`)}
      union all ${customersWith('events', isNamed('t.eventname', events.withdrawals))}`,
  }),
  // One customer who is found on the day is enough to look at the affiliate.
  glance: (parameters) => ({
    parameters: { ...parameters, min_customers: 1, share_percent: '0.000001' },
    isFinal: true,
  }),
  find(view, day, parameters) {
    const { days: window, share_percent, min_customers } = parameters
    const found = view.customers.flatMap((customer) => {
      const stay = stayOf(view, customer, day, parameters)
      return stay ? [{ customer, ...stay }] : []
    })
    const back = found.filter(({ isBack }) => isBack)
    const findings: Finding[] = back
      .filter(({ isNew }) => isNew)
      .map(({ customer, facts, ...stay }) => ({
        subject: { customer_id: customer.customer_id },
        figures: [
          withdrawnFigure('withdrawn_of_deposits', view, stay, parameters),
          playFigure([stay], parameters),
        ],
        sentence: `The customer withdrew nearly all deposits within ${counted(window, 'day')} and hardly traded or played.`,
        evidence: evidenceOf(facts.map((fact) => ({ customer, fact }))),
      }))
    if (findings.length === 0) return []
    const all = integer(found.length)
    if (found.length >= min_customers && reachesPercent(integer(back.length), all, share_percent)) {
      findings.push({
        subject: { affiliate_id: view.affiliate_id },
        figures: [
          countFigure('customers_who_deposited', found.length, min_customers, 'customers'),
          withParts(
            percentFigure('share_who_withdrew', integer(back.length), all, share_percent),
            [partOf('customers_who_withdrew', integer(back.length), 'customers')],
            found.flatMap(leftOutOf),
          ),
          ...leastWithdrawn(view, back, parameters),
          playFigure(back, parameters),
        ],
        sentence: `${back.length} of ${counted(found.length, 'customer')} withdrew nearly all deposits within ${counted(window, 'day')} and hardly traded or played.`,
        evidence: evidenceOf(
          back.flatMap(({ customer, facts }) => facts.map((fact) => ({ customer, fact }))),
        ),
      })
    }
    return findings
  },
  titles: {
    withdrawn_of_deposits: 'Withdrawn, of the deposits',
    least_withdrawn_of_deposits: 'Withdrawn by the customer with the least, of the deposits',
  },
  sees: 'Deposits, withdrawals, lots and bets of each customer by day.',
  cannotSee:
    'Whether a withdrawal went to the person who deposited. A deposit after some weeks without one counts as a first one. An amount without a rate is left out.',
})

/** What a customer paid in and took out, and how they traded or played meanwhile. */
interface Amounts {
  readonly deposited: Total
  readonly withdrawn: Total
  readonly traded: Decimal
  /** Whether the deposit is an event of a brand, whose customers bet and do not trade. */
  readonly isBrand: boolean
}

interface Stay extends Amounts {
  readonly facts: readonly Fact[]
  /** Whether nearly all went back, and the customer hardly traded or played. */
  readonly isBack: boolean
  /** Whether there was a withdrawal on the day, and it is among the days after the first deposit. */
  readonly isNew: boolean
}

interface Thresholds {
  readonly percent: string
  readonly days: number
  readonly lots: string
  readonly events: EventNames
}

/** Returns the days after the first deposit of a customer; null without one in the days that are compared. */
function stayOf(
  view: View,
  customer: Seen,
  day: number,
  { percent, days: window, lots, events }: Thresholds,
): Stay | null {
  const reached = day - window - AFFILIATE_DAYS
  const first = customer.facts.find(
    (fact) => fact.day > reached && fact.day <= day && isDeposit(fact, events),
  )
  if (!first || first.day <= day - AFFILIATE_DAYS) return null
  const last = Math.min(day, first.day + window - 1)
  const during = customer.facts.filter((fact) => fact.day >= first.day && fact.day <= last)
  const deposits = during.filter((fact) => isDeposit(fact, events))
  const withdrawals = during.filter((fact) => isWithdrawal(fact, events))
  const play = during.filter((fact) => isPlay(fact, events))
  const traded = sum(play.map((fact) => fromFact(amountOf(fact, 'lots_traded'))))
  const hasBet = play.some(({ resource }) => resource === 'activities')
  const deposited = totalOf(view, deposits, amountField)
  const withdrawn = totalOf(view, withdrawals, amountField)
  const isBack =
    isPositive(deposited.sum) &&
    reachesPercent(withdrawn.sum, deposited.sum, percent) &&
    compare(traded, decimal(lots)) < 0 &&
    !hasBet
  return {
    facts: [...deposits, ...withdrawals, ...play],
    deposited,
    withdrawn,
    traded,
    isBrand: first.resource === 'activities',
    isBack,
    isNew: day - first.day < window && withdrawals.some((fact) => fact.day === day),
  }
}

const leftOutOf = ({ deposited, withdrawn }: Amounts) => [
  ...deposited.leftOut,
  ...withdrawn.leftOut,
]

/** Returns a figure of the share of the deposits that a customer withdrew. */
const withdrawnFigure = (
  name: string,
  { currency }: View,
  stay: Amounts,
  { percent }: Thresholds,
): Figure =>
  withParts(
    percentFigure(name, stay.withdrawn.sum, stay.deposited.sum, percent),
    [
      partOf('withdrawn', stay.withdrawn.sum, currency),
      partOf('deposited', stay.deposited.sum, currency),
    ],
    leftOutOf(stay),
  )

/** Returns such a figure of the customer with the smallest share. */
function leastWithdrawn(view: View, stays: readonly Stay[], thresholds: Thresholds): Figure[] {
  const [least] = stays.toSorted((a, b) =>
    compare(multiply(a.withdrawn.sum, b.deposited.sum), multiply(b.withdrawn.sum, a.deposited.sum)),
  )
  return least ? [withdrawnFigure('least_withdrawn_of_deposits', view, least, thresholds)] : []
}

/** Returns a figure of the most lots, or of the bets of a brand: one is enough to leave a customer out. */
const playFigure = (stays: readonly Amounts[], { lots }: Thresholds): Figure =>
  stays.some(({ isBrand }) => isBrand)
    ? underFigure('bets', ZERO, ONE, 'bets')
    : underFigure(
        'lots_traded',
        stays.map(({ traded }) => traded).reduce(greatest, ZERO),
        decimal(lots),
        'lots',
      )
