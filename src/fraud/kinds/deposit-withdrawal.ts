import { amountOf, type Fact } from '../../commission/engine/facts.ts'
import { counted, figure } from '../../commission/words/english.ts'
import {
  compare,
  type Decimal,
  decimal,
  fromFact,
  isPositive,
  sum,
} from '../../platform/money/decimal.ts'
import { objectOf } from '../../platform/validation/shapes.ts'
import { customersWith, isNamed } from '../db/candidates.ts'
import { atLeast, lessThan, percentFigure, reachesPercent, totalOf } from '../figures.ts'
import {
  aboutAffiliate,
  aboutCustomer,
  anyCustomer,
  defineKind,
  type Seen,
  type View,
} from '../kind.ts'
import {
  amountField,
  type EventNames,
  eventNames,
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
    percent: share('90', 'Withdrawn share of the deposits'),
    days: days(7, 'Days from the first deposit on'),
    lots: above0('0.1', 'Lots', 'A customer who traded as many is left out.', 'lots'),
    share_percent: share(
      '30',
      'Share of the affiliate’s customers',
      'From which a case of the affiliate opens.',
    ),
    min_customers: count(
      10,
      'Fewest customers with a deposit',
      'For a case of the affiliate.',
      'customers',
    ),
    events: eventNames,
  }),
  words: ({ percent, days: window, lots, share_percent, min_customers }) => ({
    when: `a customer withdrew ${figure(percent)} % of the deposits within ${counted(window, 'day')} of the first one, after less than ${figure(lots)} lots and no bet, or ${figure(share_percent)} % of at least ${counted(min_customers, 'customer')} with a first deposit in ${AFFILIATE_DAYS} days did so`,
  }),
  reach: ({ days: window }) => {
    const all = window + AFFILIATE_DAYS
    return { transactions: all, 'trading-activity': all, activities: all }
  },
  candidates: ({ events }) => ({
    sql: `${customersWith('transactions', `t.transaction_type = 'withdrawal'`)}
      union all ${customersWith('events', isNamed('t.eventname', events.withdrawals))}`,
  }),
  glance: (parameters) => ({ ...anyCustomer(parameters), isFinal: true }),
  find(view, day, parameters) {
    const { days: window, share_percent, min_customers } = parameters
    const found = view.customers.flatMap((customer) => {
      const stay = stayOf(view, customer, day, parameters)
      return stay ? [{ customer, ...stay }] : []
    })
    const back = found.filter(({ isBack }) => isBack)
    const did = `within ${counted(window, 'day')} and hardly traded or played.`
    const findings = back
      .filter(({ isNew }) => isNew)
      .map(({ customer, facts, ...stay }) =>
        aboutCustomer(
          customer,
          [withdrawnFigure(stay, parameters), playFigure(stay, parameters)],
          `The customer withdrew nearly all deposits ${did}`,
          facts,
        ),
      )
    const [part, whole] = [back.length, found.length]
    if (findings.length === 0 || whole < min_customers) return findings
    if (!reachesPercent(part, whole, share_percent)) return findings
    const figures = [
      atLeast('customers_who_deposited', whole, min_customers, 'customers'),
      percentFigure('share_who_withdrew', part, whole, share_percent),
    ]
    const sentence = `${part} of ${counted(whole, 'customer')} withdrew nearly all deposits ${did}`
    const records = back.flatMap(({ customer, facts }) => facts.map((fact) => ({ customer, fact })))
    return [...findings, aboutAffiliate(view, figures, sentence, records)]
  },
  titles: {
    withdrawn_of_deposits: 'Withdrawn, of the deposits',
  },
  sees: 'Deposits, withdrawals, lots and bets of each customer by day.',
  cannotSee:
    'Whether a withdrawal went to the person who deposited. A deposit after some weeks without one counts as a first one. An amount without a rate is left out.',
})

/** What a customer paid in and took out, and how they traded or played meanwhile. */
interface Amounts {
  readonly deposited: Decimal
  readonly withdrawn: Decimal
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
    isPositive(deposited) &&
    reachesPercent(withdrawn, deposited, percent) &&
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

/** Returns a figure of the share of the deposits that a customer withdrew. */
const withdrawnFigure = ({ withdrawn, deposited }: Amounts, { percent }: Thresholds) =>
  percentFigure('withdrawn_of_deposits', withdrawn, deposited, percent)

/** Returns a figure of the lots, or of the bets of a brand: one is enough to leave a customer out. */
const playFigure = ({ isBrand, traded }: Amounts, { lots }: Thresholds) =>
  isBrand ? lessThan('bets', 0, 1, 'bets') : lessThan('lots_traded', traded, lots, 'lots')
