import { notNegative } from '../../commission/plans/decimals.ts'
import { counted, figure } from '../../commission/words/english.ts'
import {
  compare,
  decimal,
  integer,
  isPositive,
  multiply,
  quotient,
  subtract,
} from '../../platform/money/decimal.ts'
import { objectOf } from '../../platform/validation/shapes.ts'
import { atLeast, atMost, percentFigure, reachesPercent } from '../figures.ts'
import {
  aboutAffiliate,
  anyCustomer,
  defineKind,
  type Figure,
  type Minimum,
  type Qualified,
  type Seen,
} from '../kind.ts'
import { type EventNames, eventNames, isDeposit, isPlay } from '../money-records.ts'
import { count, days, parameter, shareOfAll } from '../parameters.ts'
import { qualifyingCandidates } from '../qualifications.ts'

/** Customers who deposited just what a rule asks for, and then did nothing. */
export const minimumDeposit = defineKind({
  kind: 'minimum_deposit',
  name: 'Deposits at the minimum',
  severity: 'high',
  verticals: ['prop-trading', 'forex', 'igaming'],
  unusualIn: ['prop-trading'],
  parameters: objectOf({
    min_customers: count(10, 'Fewest customers who qualified', '', 'customers'),
    days: days(30, 'Days in which they qualified'),
    share_percent: shareOfAll('60'),
    within_percent: parameter(notNegative, '1', {
      label: 'At most above the minimum',
      is: 'percent',
      hint: 'The minimum is what the plan asks for.',
    }),
    idle_days: days(14, 'Days without activity', 'After the customer qualified.'),
    events: eventNames,
  }),
  words: ({ min_customers, days: window, share_percent, within_percent, idle_days }) => ({
    when: `${figure(share_percent)} % of at least ${counted(min_customers, 'customer')} who qualified in ${counted(window, 'day')} deposited at most ${figure(within_percent)} % above the minimum of the plan, and did nothing in the ${counted(idle_days, 'day')} after`,
  }),
  reach: ({ days: window, idle_days }) => {
    const all = window + idle_days
    return { transactions: all, 'trading-activity': all, activities: all, qualified: true }
  },
  ofPlans: 'once',
  candidates: ({ idle_days }, source) => qualifyingCandidates(source, idle_days, 1),
  glance: anyCustomer,
  find(view, day, parameters) {
    const {
      min_customers,
      days: window,
      share_percent,
      within_percent,
      idle_days,
      events,
    } = parameters
    const last = day - idle_days
    const qualified = view.customers.flatMap((customer) =>
      customer.qualified
        .filter((one) => one.day <= last && one.day > last - window)
        .flatMap((one) => depositMinimum(one, events) ?? [])
        .slice(0, 1)
        .map((one) => ({ customer, ...one })),
    )
    if (qualified.length < min_customers) return []
    const found = qualified.filter(
      ({ customer, one, minimum }) =>
        isJustEnough(minimum, within_percent) && isIdle(customer, one.day, idle_days, events),
    )
    if (!found.some(({ one }) => one.day === last)) return []
    const [part, whole] = [found.length, qualified.length]
    if (!reachesPercent(part, whole, share_percent)) return []
    const figures = [
      atLeast('customers_who_qualified', whole, min_customers, 'customers'),
      percentFigure('share_at_the_minimum', part, whole, share_percent),
      ...mostAbove(
        found.map(({ minimum }) => minimum),
        within_percent,
      ),
    ]
    const sentence = `${part} of ${counted(whole, 'customer')} who qualified deposited at most ${within_percent} % more than the rule asks for, and did nothing in the ${counted(idle_days, 'day')} after.`
    const records = found.flatMap(({ customer, one }) =>
      one.facts.map((fact) => ({ customer, fact })),
    )
    return [aboutAffiliate(view, figures, sentence, records)]
  },
  titles: {
    largest_deposit_above_the_minimum: 'Largest deposit, above the minimum',
  },
  sees: 'By which records customers qualified, and what they did in the days after.',
  cannotSee: 'Customers of rules that ask for no deposit. Play that the sender reports late.',
})

/** The places of percentages. */
const PLACES = 2

const PAID_IN = new Set(['deposit', 'challenge_fee', 'reset_fee'])

/** Returns the greatest deposit that a rule asks for; null if it asks for none. */
function depositMinimum(one: Qualified, { deposits }: EventNames) {
  const minimum = one.minimums
    .filter(({ kinds }) => kinds.every((kind) => PAID_IN.has(kind) || deposits.includes(kind)))
    .filter(({ least }) => isPositive(least))
    .reduce<Minimum | null>(
      (most, own) => (most === null || compare(own.least, most.least) > 0 ? own : most),
      null,
    )
  return minimum && { one, minimum }
}

/** Returns whether the deposits are at most so many percent above what the rule asks for. */
const isJustEnough = ({ least, reached }: Minimum, percent: string): boolean =>
  compare(multiply(subtract(reached, least), integer(100)), multiply(least, decimal(percent))) <= 0

/** Returns a figure of the deposit that is furthest above what the rule asks for, in percent of it. */
function mostAbove(minimums: readonly Minimum[], within: string): Figure[] {
  const [most] = minimums.toSorted((a, b) =>
    compare(multiply(b.reached, a.least), multiply(a.reached, b.least)),
  )
  if (!most) return []
  const { least, reached } = most
  const above = quotient(multiply(subtract(reached, least), integer(100)), least, PLACES)
  return [atMost('largest_deposit_above_the_minimum', above, within, 'percent')]
}

/** Returns whether a customer neither played nor deposited in the days after a day. */
const isIdle = ({ facts }: Seen, day: number, idle: number, events: EventNames): boolean =>
  !facts.some(
    (fact) =>
      fact.day > day && fact.day <= day + idle && (isPlay(fact, events) || isDeposit(fact, events)),
  )
