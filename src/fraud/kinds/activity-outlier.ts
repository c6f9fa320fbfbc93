import { amountOf, type Fact } from '../../commission/engine/facts.ts'
import { figure } from '../../commission/words/english.ts'
import {
  compare,
  type Decimal,
  decimal,
  fromFact,
  isPositive,
  multiply,
  sum,
} from '../../platform/money/decimal.ts'
import { objectOf } from '../../platform/validation/shapes.ts'
import { hasMoved } from '../db/candidates.ts'
import { atLeast, magnitude, median, moreThan } from '../figures.ts'
import { aboutCustomer, defineKind, type Figure, ownFacts } from '../kind.ts'
import { above0, MAX_DAYS } from '../parameters.ts'

/** The active days that a day is compared with, and the fewest that can be compared. */
const COMPARED = 60
const FEWEST = 10

/** A sum of a day, which binary numbers make inexact, is compared with a little less. */
const ABOUT = 0.999

/**
 * Returns the SQL of whether a sum of a day is above so many times that of at least half of the last active days.
 * `:days` has the days with records, the latest first.
 */
const isFarAbove = (field: Measured, condition: string): string => `(
    select count(*) between ${FEWEST} and 2 * count(*) filter (where amount * :times * ${ABOUT} <= abs(n.${field}))
    from (select (
        select iif(count(*) = 0, null, abs(total(a.${field}))) from activity a not indexed
        where a.account = :account and a.date = d.value and a.customer_id = n.customer_id
          and a.held = 0 and ${condition}) as amount
      from json_each(:days) d where d.value between n.date - ${MAX_DAYS - 1} and n.date - 1
        and amount is not null limit ${COMPARED}))`

const FAR_ABOVE = `
  select n.customer_id from (
    select t.customer_id, t.date, min(t.currency) as currency, total(t.lots_traded) as lots_traded,
      total(t.pnl) as pnl
    from activity t not indexed
    where t.account = :account and t.date between :from and :to and t.held = 0 group by t.date, t.customer_id) n
  where ${hasMoved('n.customer_id')} or ${isFarAbove('lots_traded', 'true')} or ${isFarAbove('pnl', 'a.currency = n.currency')}`

/** A day on which a customer traded, won or lost far more than usual. */
export const activityOutlier = defineKind({
  kind: 'activity_outlier',
  name: 'A day far above the usual',
  severity: 'low',
  verticals: ['prop-trading', 'forex'],
  parameters: objectOf({
    times: above0('20', 'Times what is usual', '', 'times'),
  }),
  words: ({ times }) => ({
    when: `the lots of a customer on one day, or the profit or loss, were more than ${figure(times)} times what is usual`,
    more: [
      `Usual is the median of the customer’s last ${COMPARED} active days. A customer with fewer than ${FEWEST} is left out. Profit and loss are compared with those in the same currency.`,
    ],
  }),
  reach: () => ({ 'trading-activity': MAX_DAYS }),
  candidates: ({ times }) => ({ sql: FAR_ABOVE, values: { times: Number(times) } }),
  find(view, day, { times }) {
    return view.customers.flatMap((customer) => {
      const today = ownFacts(customer, 'trading-activity', day, day)
      if (today.length === 0) return []
      const earlier = ownFacts(customer, 'trading-activity', day - MAX_DAYS + 1, day - 1)
      const currencies = new Set(today.map(({ currency }) => currency))
      const found = MEASURES.flatMap((measure): { figure: Figure; days: number }[] => {
        // Profits in several currencies are neither added nor compared.
        if (measure.field === 'pnl' && currencies.size > 1) return []
        const compared =
          measure.field === 'pnl' ? earlier.filter((one) => currencies.has(one.currency)) : earlier
        const amounts = activeDays(compared, measure.field)
        const usual = amounts.length < FEWEST ? null : median(amounts)
        if (usual === null || !isPositive(usual)) return []
        const value = amountOn(today, measure.field)
        const threshold = multiply(usual, decimal(times))
        if (compare(value, threshold) <= 0) return []
        const [currency] = currencies
        const unit = measure.field === 'pnl' ? (currency ?? '') : 'lots'
        const figure = moreThan(measure.name, value, threshold, unit, `${times} times the usual`)
        return [{ figure, days: amounts.length }]
      })
      if (found.length === 0) return []
      const fewest = Math.min(...found.map(({ days }) => days))
      const figures = [
        ...found.map((one) => one.figure),
        atLeast('earlier_active_days', fewest, FEWEST, 'days'),
      ]
      const sentence = `The customer traded, won or lost more than ${figure(times)} times what is usual on one day.`
      return [aboutCustomer(customer, figures, sentence, today)]
    })
  },
  titles: {
    earlier_active_days: 'Active days before it',
  },
  sees: 'The lots, and the profit or loss, of each customer by day.',
  cannotSee: `A customer with fewer than ${FEWEST} active days cannot be compared. Why a day was unusual. A day with profit and loss in several currencies.`,
})

const MEASURES = [
  { name: 'lots_of_a_day', field: 'lots_traded' },
  { name: 'profit_or_loss_of_a_day', field: 'pnl' },
] as const

type Measured = (typeof MEASURES)[number]['field']

/** Returns the lots of a day, or how far its profit or loss is from 0. */
const amountOn = (facts: readonly Fact[], field: Measured): Decimal =>
  magnitude(sum(facts.map((fact) => fromFact(amountOf(fact, field)))))

/** Returns the amounts of the latest days with trading activity. */
const activeDays = (facts: readonly Fact[], field: Measured): Decimal[] =>
  [...Map.groupBy(facts, ({ day }) => day)]
    .sort(([a], [b]) => b - a)
    .slice(0, COMPARED)
    .map(([, rows]) => amountOn(rows, field))
