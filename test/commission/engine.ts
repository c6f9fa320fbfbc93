import {
  type Customer,
  type CustomerFields,
  compareFacts,
  type Dated,
  type Fact,
  type FactState,
} from '../../src/commission/engine/facts.ts'
import { payingEntries } from '../../src/commission/engine/judge.ts'
import { buildPlansInForce } from '../../src/commission/engine/plans-in-force.ts'
import { reportFacts } from '../../src/commission/engine/records.ts'
import type { StatementJson } from '../../src/commission/engine/statement.ts'
import { buildTree } from '../../src/commission/engine/tree.ts'
import type { PlanTerms } from '../../src/commission/plans/types.ts'
import { isOutflow } from '../../src/platform/amount-signs.ts'
import { compareText } from '../../src/platform/compare-text.ts'
import { dayNumber, type Period, parsePeriod } from '../../src/platform/money/calendar.ts'
import { type Decimal, decimal, factAmount } from '../../src/platform/money/decimal.ts'
import { dayInZone, instantOfLocalTime } from '../../src/platform/zone.ts'
import type { AccountInput } from './open-account.ts'
import { type Account, openAccount } from './open-account.ts'
import type {
  Outcome,
  OutcomeFact,
  World,
  WorldActivity,
  WorldCustomer,
  WorldEvent,
  WorldTransaction,
} from './world.ts'

const DAY_MS = 86_400_000

const dayOf = ({ book_zone = 'UTC' }: World, at: number): number =>
  dayNumber(dayInZone(book_zone, at))

const dayStart = ({ book_zone = 'UTC' }: World, day: number): number =>
  instantOfLocalTime(book_zone, day * DAY_MS).instant

/** Evaluates a world with the engine. */
export function evaluate(world: World, periods: readonly string[]): Outcome[] {
  const { account, input } = open(world)
  const held = heldFacts(world)
  return periods.map((id) => {
    const period = parsePeriod(id)
    if (period === null) throw new Error(`${id} is not a period.`)
    return {
      period: id,
      statements: account
        .settle(period)
        .flatMap(({ statement }) => (statement ? [asDraft(statement)] : [])),
      facts: [
        ...factsOf(account, input, period),
        ...held.flatMap(({ day, fact }) =>
          day >= period.first && day <= period.last ? [fact] : [],
        ),
      ].sort(inOrder),
    }
  })
}

/** Returns a statement as the oracle writes it: nothing of these worlds is approved or entered. */
export function asDraft(statement: StatementJson): Outcome['statements'][number] {
  const { lines_sum, adjustments, adjustments_sum, earned, manual, manual_sum, ...rest } = statement
  if (adjustments.length + manual.length > 0) throw new Error('There is nothing to adjust.')
  const sums = new Set([lines_sum, earned, rest.total])
  if (Number(adjustments_sum) !== 0 || Number(manual_sum) !== 0 || sums.size > 1) {
    throw new Error('The sums of a statement without corrections are those of its lines.')
  }
  return structuredClone(rest) as never
}

/** Opens the account of a world. */
export function open(world: World): { account: Account; input: AccountInput } {
  const customers = customersOf(world)
  const first = Math.min(...customers.flatMap(({ facts }) => facts.map(({ day }) => day)))
  const input: AccountInput = {
    inForce: buildPlansInForce({
      plans: world.plans.map(({ plan, versions }) => ({
        plan,
        versions: versions.map(({ version, terms }) => ({ version, terms: terms as PlanTerms })),
      })),
      assignments: world.assignments.map((one) => ({ ...one, from: dayNumber(one.from) })),
    }),
    tree: buildTree(
      world.affiliates.map(({ affiliate_id, parents }) => ({
        affiliate_id,
        parents: parents.map(({ from, parent }) => dated(from, parent)),
      })),
    ),
    rates: ratesOf(world),
    dayStart: (day) => dayStart(world, day),
    customers,
    affiliates: world.affiliates.map(({ affiliate_id }) => affiliate_id),
    firstDay: Number.isFinite(first) ? first : 0,
    states: new Map(),
    books: new Map(),
  }
  return { account: openAccount(input), input }
}

const dated = <T>(from: string | null, value: T): Dated<T> => ({
  from: from === null ? null : dayNumber(from),
  value,
})

function ratesOf({ rates }: World): AccountInput['rates'] {
  const published = Math.max(...rates.map(({ day }) => dayNumber(day)))
  const byCurrency = Map.groupBy(rates, ({ currency }) => currency)
  return (currency, day) => {
    if (!(day <= published)) return 'fx_pending'
    if (currency === 'EUR') return { units: 1n, scale: 0 } satisfies Decimal
    const usable = (byCurrency.get(currency) ?? [])
      .map((rate) => ({ day: dayNumber(rate.day), rate: rate.rate }))
      .filter((rate) => rate.day <= day && rate.day >= day - 7)
      .sort((a, b) => b.day - a.day)
    return usable[0] ? decimal(usable[0].rate) : 'fx_missing'
  }
}

function customersOf(world: World): Customer[] {
  const facts = new Map<string, Fact[]>()
  const add = (customer: string, fact: Fact): void => {
    const list = facts.get(customer) ?? []
    facts.set(customer, list)
    list.push(fact)
  }
  for (const one of world.customers) add(one.customer_id, signupFact(world, one))
  for (const one of world.transactions) add(one.customer_id, transactionFact(world, one))
  for (const one of world.activity) add(one.customer_id, activityFact(world, one))
  for (const one of world.events) add(one.customer_id, eventFact(world, one))
  return world.customers.map((one) => ({
    customer_id: one.customer_id,
    signup: one.signup,
    signupDay: dayOf(world, one.signup),
    affiliates: one.affiliates.map(({ from, affiliate_id }) => dated(from, affiliate_id)),
    fields: one.fields.map(({ from, values }) => dated(from, fieldsOf(values))),
    refusedFrom: refusedFrom(one),
    facts: (facts.get(one.customer_id) ?? []).sort(compareFacts),
  }))
}

function refusedFrom({ refused }: WorldCustomer): number | null {
  if (refused === undefined) return null
  return refused.from === null ? -Infinity : dayNumber(refused.from)
}

const fieldsOf = (values: WorldCustomer['fields'][number]['values']): CustomerFields => ({
  country_code: values.country_code ?? null,
  trading_account_type: values.trading_account_type ?? null,
  challenge_type: values.challenge_type ?? null,
  phase: values.phase ?? null,
  kyc_status_id: values.kyc_status_id ?? null,
  sales_status_id: values.sales_status_id ?? null,
  account_size: values.account_size ?? null,
  link: values.link ?? null,
})

const PLAIN = {
  wholeDay: false,
  state: 'approved',
  kind: '',
  subtype: null,
  currency: null,
  instrument: null,
  product: null,
  count: 1,
} as const

const amounts = (record: object): Map<string, bigint> =>
  new Map(
    Object.entries(record).flatMap(([name, value]) =>
      typeof value === 'number' ? [[name, factAmount(value)] as const] : [],
    ),
  )

const signupFact = (world: World, { customer_id, signup }: WorldCustomer): Fact => ({
  ...PLAIN,
  resource: 'customers',
  id: customer_id,
  at: signup,
  day: dayOf(world, signup),
  state: stateOn(world, dayOf(world, signup)),
  amounts: new Map(),
})

const STATES: readonly string[] = ['pending', 'approved', 'declined', 'reversed']

/** Returns an amount, or its magnitude if money leaves and the world writes outflows negative. */
const magnitude = (world: World, leaves: boolean | undefined, value: number | undefined) =>
  leaves && world.amount_signs === 'signed' && value !== undefined ? Math.abs(value) : value

const FIRST_DAY = dayNumber('2000-01-01')
const LEAD_MS = 36 * 3_600_000

/** Returns the state of a fact by its day, then by its status. */
function stateOn(world: World, day: number, status?: string): FactState {
  const { now, status_map } = world
  const isAhead = now !== undefined && day > dayOf(world, now + LEAD_MS)
  if (day < FIRST_DAY || isAhead) return 'implausible_time'
  if (status === undefined) return 'approved'
  const mapped = Object.hasOwn(status_map, status) ? status_map[status] : status
  return (STATES.includes(mapped ?? '') ? mapped : 'unmapped') as FactState
}

function transactionFact(world: World, one: WorldTransaction): Fact {
  const leaves = isOutflow(one.transaction_type)
  const amount_currency = magnitude(world, leaves, one.amount_currency)
  const amount_usd = magnitude(world, leaves, one.amount_usd)
  return {
    ...PLAIN,
    resource: 'transactions',
    id: one.transaction_id,
    at: one.at,
    day: dayOf(world, one.at),
    state: stateOn(world, dayOf(world, one.at), one.status),
    kind: one.transaction_type,
    subtype: one.transaction_subtype ?? null,
    currency: one.currency,
    amounts: amounts({ amount_currency, amount_usd }),
  }
}

function activityFact(world: World, one: WorldActivity): Fact {
  const { date, customer_id, instrument, currency, ...rest } = one
  const day = dayNumber(date)
  return {
    ...PLAIN,
    resource: 'trading-activity',
    id: [date, customer_id, instrument, currency].join('|'),
    at: dayStart(world, day),
    wholeDay: true,
    day,
    state: stateOn(world, day),
    currency,
    instrument,
    amounts: amounts(rest),
  }
}

function eventFact(world: World, one: WorldEvent): Fact {
  const day = dayNumber(one.day)
  const Value = magnitude(world, world.outflows?.includes(one.eventname), one.Value)
  return {
    ...PLAIN,
    resource: 'activities',
    id: one.id,
    at: one.at ?? day * DAY_MS,
    wholeDay: one.at === undefined,
    day,
    state: stateOn(world, day, one.status),
    kind: one.eventname,
    currency: one.Currency ?? null,
    product: one.product ?? null,
    amounts: amounts({ ...one.kpis, Value }),
  }
}

function factsOf(account: Account, input: AccountInput, period: Period): OutcomeFact[] {
  const entriesOf = payingEntries(input)
  return account.evaluated(period.last).flatMap((evaluated) =>
    [...reportFacts(input, entriesOf, evaluated, period)].map(
      ({ fact: { resource, id }, state: { reason, rule } }): OutcomeFact => ({
        resource,
        id,
        state: reason,
        rule: reason === 'counted' ? null : rule,
      }),
    ),
  )
}

const inOrder = (a: OutcomeFact, b: OutcomeFact): number =>
  compareText(a.resource, b.resource) || compareText(a.id, b.id)

/** Facts of customers who are not known wait; the engine never sees them. */
function heldFacts(world: World): { day: number; fact: OutcomeFact }[] {
  const known = new Set(world.customers.map(({ customer_id }) => customer_id))
  const held = (customer: string, factOf: () => Fact) => {
    if (known.has(customer)) return []
    const { day, resource, id } = factOf()
    return [{ day, fact: { resource, id, state: 'held' as const, rule: null } }]
  }
  return [
    ...world.transactions.flatMap((one) =>
      held(one.customer_id, () => transactionFact(world, one)),
    ),
    ...world.activity.flatMap((one) => held(one.customer_id, () => activityFact(world, one))),
    ...world.events.flatMap((one) => held(one.customer_id, () => eventFact(world, one))),
  ]
}
