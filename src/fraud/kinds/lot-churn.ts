import type { Fact, FactResource } from '../../commission/engine/facts.ts'
import { counted, figure } from '../../commission/words/english.ts'
import {
  add,
  type Decimal,
  decimal,
  isPositive,
  multiply,
  subtract,
  sum,
} from '../../platform/money/decimal.ts'
import { objectOf } from '../../platform/validation/shapes.ts'
import { customersWith } from '../db/candidates.ts'
import { exceeds, totalOf } from '../figures.ts'
import {
  aboutAffiliate,
  aboutCustomer,
  defineKind,
  type Figure,
  type Finding,
  type OwnFact,
  ownFacts,
  type Seen,
  type View,
} from '../kind.ts'
import { days, MAX_DAYS, percent } from '../parameters.ts'

/** Trading that earns the affiliate more by volume than it brings the firm. */
export const lotChurn = defineKind({
  kind: 'lot_churn',
  name: 'Volume that earns more than it brings',
  severity: 'medium',
  verticals: ['forex'],
  parameters: objectOf({
    percent: percent(
      '80',
      'Share of spread and commission',
      'What the affiliate earns by volume must be more.',
    ),
    days: days(30, 'Days that are summed'),
  }),
  words: ({ percent, days: window }) => ({
    when: `in ${counted(window, 'day')} the affiliate earned more by volume from a customer, or from all together, than ${figure(percent)} % of the spread and commission charged, or than the net deposits up to then`,
    more: ['Customers without a deposit are left out of the comparison with net deposits.'],
  }),
  reach: ({ days: window }) => ({
    transactions: MAX_DAYS,
    'trading-activity': window,
    unitEarnings: true,
  }),
  ofPlans: 'unit',
  candidates: () => ({
    sql: `${customersWith('activity')}
      union all ${customersWith('transactions', `t.transaction_type in ('deposit', 'withdrawal')`)}`,
  }),
  glance: () => ({ isFinal: true }),
  find(view, day, { percent, days: window }) {
    const first = day - window + 1
    const sums = view.customers
      .map((customer) => sumsOf(customer, first, day))
      .filter(({ earned }) => isPositive(earned))
    const ofDay = sums.filter(({ trading, deposits, withdrawals }) =>
      [trading, deposits, withdrawals].flat().some((fact) => fact.day === day),
    )
    const ofAffiliate = (parts: readonly Sums[]) =>
      findingOf(view, percent, parts, (figures, records) =>
        aboutAffiliate(view, figures, sentenceOf('all customers'), records),
      )
    return [
      ...ofDay.flatMap((one) =>
        findingOf(view, percent, [one], (figures, records) => {
          const facts = records.map(({ fact }) => fact)
          return aboutCustomer(one.customer, figures, sentenceOf('the customer'), facts)
        }),
      ),
      // All customers are compared on days whose customers together are above the limits.
      ...(ofAffiliate(ofDay).length > 0 ? ofAffiliate(sums) : []),
    ]
  },
  sees: `What unit rules paid for each customer, the spread and commission that were charged, and the net deposits of ${MAX_DAYS} days.`,
  cannotSee:
    'Older deposits, and gains: a customer who withdrew what they won looks worse than they are. Tiers count at their first step, and limits of a rule are not seen.',
})

const sentenceOf = (whom: string): string =>
  `By volume the affiliate earned more from ${whom} than the limits allow.`

function findingOf(
  view: View,
  percent: string,
  parts: readonly Sums[],
  about: (figures: readonly Figure[], records: readonly OwnFact[]) => Finding,
): Finding[] {
  const depositors = parts.filter(({ deposits }) => deposits.length > 0)
  const ofDeposits = depositsFigure(view, depositors)
  const figures = [...chargesFigure(view, parts, percent), ...ofDeposits]
  if (figures.length === 0) return []
  const money = ofDeposits.length > 0 ? depositors : []
  const of = (customer: Seen, facts: readonly Fact[]) => facts.map((fact) => ({ customer, fact }))
  const records = [
    ...parts.flatMap(({ customer, trading }) => of(customer, trading)),
    ...money.flatMap(({ customer, deposits, withdrawals }) =>
      of(customer, [...deposits, ...withdrawals]),
    ),
  ]
  return [about(figures, records)]
}

interface Sums {
  readonly customer: Seen
  readonly earned: Decimal
  /** In the days that are summed. */
  readonly trading: readonly Fact[]
  /** Up to the day. */
  readonly deposits: readonly Fact[]
  readonly withdrawals: readonly Fact[]
}

function sumsOf(customer: Seen, first: number, last: number): Sums {
  const approved = (resource: FactResource, from: number) =>
    ownFacts(customer, resource, from, last).filter(({ state }) => state === 'approved')
  const money = approved('transactions', last - MAX_DAYS + 1)
  const earnings = customer.unitEarnings.filter(({ day }) => day >= first && day <= last)
  return {
    customer,
    earned: sum(earnings.map(({ amount }) => amount)),
    trading: approved('trading-activity', first),
    deposits: money.filter(({ kind }) => kind === 'deposit'),
    withdrawals: money.filter(({ kind }) => kind === 'withdrawal'),
  }
}

/** Adds up what volume has earned. */
const earnedBy = (parts: readonly Sums[]): Decimal => sum(parts.map(({ earned }) => earned))

/** Returns a figure of what volume has earned, if it is more than so many percent of the charges. */
function chargesFigure(view: View, parts: readonly Sums[], percent: string): Figure[] {
  const trading = parts.flatMap((one) => one.trading)
  const spread = totalOf(view, trading, () => 'spread_cost')
  const commission = totalOf(view, trading, () => 'commission')
  const most = multiply(add(spread, commission), multiply(decimal(percent), decimal('0.01')))
  return exceeds(
    'earned_by_volume_of_charges',
    earnedBy(parts),
    most,
    view.currency,
    `${percent} % of spread and commission`,
  )
}

/** Returns a figure of what volume has earned, if it is more than deposits less withdrawals. */
function depositsFigure(view: View, depositors: readonly Sums[]): Figure[] {
  const deposited = totalOf(
    view,
    depositors.flatMap(({ deposits }) => deposits),
  )
  const withdrawn = totalOf(
    view,
    depositors.flatMap(({ withdrawals }) => withdrawals),
  )
  const most = subtract(deposited, withdrawn)
  return exceeds(
    'earned_by_volume_of_net_deposits',
    earnedBy(depositors),
    most,
    view.currency,
    'net deposits',
  )
}
