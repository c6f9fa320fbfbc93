import type { OutcomeFact, World, WorldCustomer, WorldFields } from '../world.ts'
import { daysOfZone, type ZoneDays } from './calendar.ts'
import { assignmentFor, assignmentsOf, governing, type Version } from './plan.ts'
import { parse, type Rational } from './rational.ts'

export type State = 'approved' | 'pending' | 'declined' | 'reversed' | 'unmapped'

const HOUR_MS = 3_600_000

/** A record that can earn (§10). */
export interface Fact {
  resource: OutcomeFact['resource']
  id: string
  customer: WorldCustomer
  signupDay: string
  /** Returns the day of an instant in the account. */
  dayOf: ZoneDays['dayOf']
  /** Returns the first instant of a day of the account. */
  startOf: ZoneDays['startOf']
  day: string
  instant: number
  /** Whether the fact has no time of day. */
  wholeDay: boolean
  state: State
  /** `transaction_type`, or `eventname`. */
  type?: string | undefined
  subtype?: string | undefined
  instrument?: string | undefined
  product?: string | undefined
  currency?: string | undefined
  /** Each number that the record carries, by field or KPI. */
  numbers: Map<string, Rational>
  amountUsd?: Rational | undefined
  /** The affiliate on the fact's day; null is organic. */
  affiliate: string | null
  /** The reason that comes before all plans and states, or null. */
  /** Whether the customer is refused on its day. */
  isRefused: boolean
  reason: 'implausible_time' | 'organic' | 'unknown_affiliate' | 'refused' | null
  /** The version that governs the fact, or null: `no_plan`. */
  version: Version | null
}

/** Compares texts by code points. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0
  const left = [...a].map((one) => one.codePointAt(0)!)
  const right = [...b].map((one) => one.codePointAt(0)!)
  for (let at = 0; at < left.length && at < right.length; at += 1)
    if (left[at] !== right[at]) return left[at]! - right[at]!
  return left.length - right.length
}

/** Orders facts by instant, resource name and id. */
export const inTime = (a: Fact, b: Fact) =>
  a.instant - b.instant || compareText(a.resource, b.resource) || compareText(a.id, b.id)

/** Returns the last entry of a history that begins on or before a day. */
export const entryOn = <T extends { from: string | null }>(history: T[], day: string) =>
  history.findLast((one) => one.from === null || one.from <= day)

/** Returns the fields of a customer on a day. The first value holds from the beginning. */
export const fieldsOn = (customer: WorldCustomer, day: string): WorldFields =>
  (entryOn(customer.fields, day) ?? customer.fields[0])?.values ?? {}

const STATES = ['pending', 'approved', 'declined', 'reversed'] as const

function stateOf(world: World, status: string): State {
  if (Object.hasOwn(world.status_map, status)) return world.status_map[status]!
  return STATES.find((one) => one === status) ?? 'unmapped'
}

const numbersOf = (values: Record<string, number | undefined>) =>
  new Map(
    Object.entries(values).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, parse(value)] as const],
    ),
  )

type Raw = Omit<
  Fact,
  'customer' | 'signupDay' | 'dayOf' | 'startOf' | 'affiliate' | 'isRefused' | 'reason' | 'version'
> & {
  customer_id: string
}

/** Returns an amount, or its magnitude if it comes negative because money leaves. */
const unsigned = (leaves: boolean, value: number) => (leaves ? Math.abs(value) : value)

const OUTFLOWS = ['withdrawal', 'payout', 'refund']

/** Returns whether a day cannot be: before 2000, or it begins more than 36 hours ahead. */
function isImplausible({ now }: World, { startOf }: ZoneDays, day: string): boolean {
  return day < '2000-01-01' || (now !== undefined && startOf(day) > now + 36 * HOUR_MS)
}

function rawFacts(world: World, { dayOf, startOf }: ZoneDays): Raw[] {
  return [
    ...world.customers.map(
      (one): Raw => ({
        resource: 'customers',
        id: one.customer_id,
        customer_id: one.customer_id,
        day: dayOf(one.signup),
        instant: one.signup,
        wholeDay: false,
        state: 'approved',
        numbers: new Map(),
      }),
    ),
    ...world.transactions.map((one): Raw => {
      const leaves = world.amount_signs === 'signed' && OUTFLOWS.includes(one.transaction_type)
      const amountUsd = one.amount_usd === undefined ? undefined : unsigned(leaves, one.amount_usd)
      return {
        resource: 'transactions',
        id: one.transaction_id,
        customer_id: one.customer_id,
        day: dayOf(one.at),
        instant: one.at,
        wholeDay: false,
        state: stateOf(world, one.status),
        type: one.transaction_type,
        subtype: one.transaction_subtype,
        currency: one.currency,
        numbers: numbersOf({ amount_currency: unsigned(leaves, one.amount_currency) }),
        amountUsd: amountUsd === undefined ? undefined : parse(amountUsd),
      }
    }),
    ...world.activity.map(({ date, customer_id, instrument, currency, ...numbers }): Raw => {
      const id = `${date}|${customer_id}|${instrument}|${currency}`
      return {
        resource: 'trading-activity',
        id,
        customer_id,
        day: date,
        instant: startOf(date),
        wholeDay: true,
        state: 'approved',
        instrument,
        currency,
        numbers: numbersOf(numbers),
      }
    }),
    ...world.events.map((one): Raw => {
      const isOutflow = world.outflows?.includes(one.eventname) ?? false
      const leaves = world.amount_signs === 'signed' && isOutflow
      const Value = one.Value === undefined ? undefined : unsigned(leaves, one.Value)
      return {
        resource: 'activities',
        id: one.id,
        customer_id: one.customer_id,
        day: one.day,
        instant: one.at ?? startOf(one.day),
        wholeDay: one.at === undefined,
        state: one.status === undefined ? 'approved' : stateOf(world, one.status),
        type: one.eventname,
        product: one.product,
        currency: one.Currency,
        numbers: numbersOf({ ...one.kpis, Value }),
      }
    }),
  ]
}

/** Returns the facts of a world in order of time, and those whose customer is unknown. */
export function readFacts(
  world: World,
  versions: Map<string, Version[]>,
): { facts: Fact[]; held: Raw[] } {
  const customers = new Map(world.customers.map((one) => [one.customer_id, one]))
  const configured = new Set(world.affiliates.map((one) => one.affiliate_id))
  const assignments = new Map([...configured].map((one) => [one, assignmentsOf(world, one)]))
  const held: Raw[] = []
  const days = daysOfZone(world.book_zone)
  const { dayOf, startOf } = days
  const facts = rawFacts(world, days).flatMap((raw): Fact[] => {
    const customer = customers.get(raw.customer_id)
    if (!customer) {
      held.push(raw)
      return []
    }
    const signupDay = dayOf(customer.signup)
    const affiliate = entryOn(customer.affiliates, raw.day)?.affiliate_id ?? null
    const { refused } = customer
    const isRefused = refused !== undefined && (refused.from === null || refused.from <= raw.day)
    const reason = isImplausible(world, days, raw.day)
      ? 'implausible_time'
      : affiliate === null
        ? 'organic'
        : !configured.has(affiliate)
          ? 'unknown_affiliate'
          : isRefused
            ? 'refused'
            : null
    const own = affiliate === null ? undefined : assignments.get(affiliate)
    const assignment = own ? assignmentFor(own, signupDay, raw.day) : null
    const version = assignment
      ? governing(versions.get(assignment.plan)!, assignment, signupDay, raw.day)
      : null
    return [{ ...raw, customer, signupDay, dayOf, startOf, affiliate, isRefused, reason, version }]
  })
  return { facts: facts.sort(inTime), held }
}
