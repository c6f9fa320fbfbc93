import { type CustomerFields, type Fact, NO_FIELDS } from '../../src/commission/engine/facts.ts'
import type { Seen, View } from '../../src/fraud/kind.ts'

// What rules see of an affiliate, written by hand. Amounts are in EUR, and days count from 1970.

const DAY_MS = 86_400_000

const factOf = (fact: Partial<Fact> & Pick<Fact, 'resource' | 'id' | 'day'>): Fact => ({
  at: fact.day * DAY_MS,
  wholeDay: true,
  state: 'approved',
  kind: '',
  subtype: null,
  currency: 'EUR',
  instrument: null,
  product: null,
  amounts: new Map(),
  count: 1,
  delivery_id: 'dlv_1',
  ...fact,
})

const units = (amounts: Readonly<Record<string, number>>) =>
  new Map(
    Object.entries(amounts).map(([name, value]) => [
      name,
      BigInt(Math.round(value * 1e6)) * 10n ** 6n,
    ]),
  )

/** Returns a row of trading activity of a day. */
export const traded = (
  day: number,
  amounts: Readonly<Record<string, number>>,
  instrument = 'EURUSD',
): Fact =>
  factOf({
    resource: 'trading-activity',
    id: `${day}|${instrument}`,
    day,
    instrument,
    amounts: units(amounts),
  })

interface CustomerOptions extends Partial<Omit<Seen, 'fields'>> {
  readonly fields?: Partial<CustomerFields>
  /** The time of the signup in milliseconds after the start of the day; absent: only the day was sent. */
  readonly time?: number
}

/** Returns a customer who signed up on a day. */
export function customer(id: string, day: number, options: CustomerOptions = {}): Seen {
  const { facts = [], fields, time, ...others } = options
  const signup = factOf({
    resource: 'customers',
    id,
    day,
    currency: null,
    at: day * DAY_MS + (time ?? 0),
    wholeDay: time === undefined,
  })
  // The ids of trading activity name the customer.
  const own = facts.map((fact) =>
    fact.resource === 'trading-activity' ? { ...fact, id: `${id}|${fact.id}` } : fact,
  )
  return {
    customer_id: id,
    signup: signup.at,
    signupDay: day,
    affiliates: [{ from: null, value: 'A' }],
    fields: [{ from: null, value: { ...NO_FIELDS, ...fields } }],
    refusedFrom: null,
    clickedAt: null,
    earlier: { email: { count: 0, first: [] }, name: { count: 0, first: [] } },
    isContact: false,
    qualified: [],
    unitEarnings: [],
    ...others,
    facts: [signup, ...own].sort((a, b) => a.day - b.day),
  }
}

/** Returns an affiliate `A` with customers. */
export const viewOf = (customers: readonly Seen[], others: Partial<View> = {}): View => ({
  affiliate_id: 'A',
  customers,
  currency: 'EUR',
  convert: (fact, field) => {
    const amount = fact.amounts.get(field)
    return amount === undefined || fact.currency !== 'EUR' ? null : { units: amount, scale: 12 }
  },
  periods: [],
  payees: [],
  ...others,
})

/** Returns so many items. */
export const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))
