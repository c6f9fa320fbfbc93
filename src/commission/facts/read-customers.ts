import { decode, encode } from '../../db/column-types.ts'
import type { FactReading } from '../../db/commission/fact-readings.ts'
import { type FactRow, readSignups, type SignupRow } from '../../db/commission/facts.ts'
import type { FoundCustomer } from '../../db/commission/found-customer.ts'
import { type CustomerHistory, readHistories } from '../../db/commission/histories.ts'
import type { Since } from '../../db/commission/history.ts'
import { customers } from '../../db/schema.ts'
import {
  type Customer,
  type CustomerFields,
  compareFacts,
  type Fact,
  NO_FIELDS,
} from '../engine/facts.ts'
import type { KeptReading } from './kept.ts'
import { type NeededKinds, readRows } from './read-kept.ts'
import { type AccountSource, dated, dayOrNull } from './source.ts'
import { toFact } from './to-facts.ts'

/** A customer whose facts are read. */
export type WantedCustomer = Pick<FoundCustomer, 'customer_id'> & Partial<FoundCustomer>

/**
 * Reads customers with their histories and facts; a customer that is not stored is left out. The facts
 * of a customer are made when it is its turn, so that those of the one before it can be forgotten.
 *
 * @param wanted At most as many as `customersPerReading` returns.
 * @param share Which share of the customers between the first and the last of them they are.
 * @param isNeeded Whether a customer's records of a reading are needed.
 * @param kept What is kept of the facts of past days; null: nothing is used.
 */
export async function readCustomers(
  source: AccountSource,
  readings: readonly FactReading[],
  wanted: readonly WantedCustomer[],
  share: number,
  isNeeded: (customer: WantedCustomer, reading: FactReading) => boolean,
  kept: KeptReading | null,
): Promise<Iterable<Customer>> {
  const keyOf = ({ customer_id }: WantedCustomer) =>
    String(encode(customers.customer_id, customer_id))
  const keys = new Map(wanted.map((one) => [one, keyOf(one)]))
  const parts = readings.flatMap((reading) => {
    const ids = wanted.filter((one) => isNeeded(one, reading)).map((one) => keys.get(one) ?? '')
    const ofRange = (share * ids.length) / wanted.length
    return ids.length > 0 ? [{ reading, ids, share: ofRange }] : []
  })
  const [known, rows] = await Promise.all([
    readKnown(source, wanted, keys),
    readRows(source, kept, parts, neededOf(kept, wanted, keys, isNeeded)),
  ])
  const found = parts.map(({ reading: { kind } }, i) => ({
    kind,
    rowsOf: Map.groupBy(rows[i] ?? [], ({ customer_id }) => String(customer_id)),
  }))
  return toCustomers(source, known, found)
}

function* toCustomers(
  source: AccountSource,
  known: readonly KnownCustomer[],
  found: readonly FoundRows[],
): Generator<Customer> {
  for (const one of known) yield toCustomer(source, one, found)
}

/** Returns which kinds of rows are needed of each customer. */
function neededOf(
  kept: KeptReading | null,
  wanted: readonly WantedCustomer[],
  keys: ReadonlyMap<WantedCustomer, string>,
  isNeeded: (customer: WantedCustomer, reading: FactReading) => boolean,
): NeededKinds {
  const kinds = kept?.kinds ?? []
  return new Map(
    wanted.map((one) => {
      const own = kinds.filter((reading) => isNeeded(one, reading))
      return [keys.get(one) ?? '', new Set(own.map(({ kind }) => kind))]
    }),
  )
}

/** Reads one customer; null if it is not stored. */
export async function readCustomer(
  source: AccountSource,
  readings: readonly FactReading[],
  customer_id: string,
): Promise<Customer | null> {
  const [customer] = await readCustomers(source, readings, [{ customer_id }], 0, () => true, null)
  return customer ?? null
}

/** What is known of a customer beside facts. */
interface KnownCustomer extends Pick<CustomerHistory, 'affiliations' | 'fields'> {
  readonly customer_id: string
  readonly signup: SignupRow
  readonly refusal: Since | null
}

/** Returns customers in order; histories are read of those who were not found with all that is stored. */
async function readKnown(
  source: AccountSource,
  wanted: readonly WantedCustomer[],
  keys: ReadonlyMap<WantedCustomer, string>,
): Promise<KnownCustomer[]> {
  const { db, account } = source
  const unknown = wanted.filter(({ stored }) => !stored)
  const ids = unknown.map(({ customer_id }) => customer_id)
  const [histories, signups] =
    unknown.length === 0
      ? [new Map<string, CustomerHistory>(), []]
      : await Promise.all([
          readHistories(source, account.id, ids),
          readSignups(
            db,
            account.id,
            unknown.map((one) => keys.get(one) ?? ''),
          ),
        ])
  const signupOf = new Map(signups.map((signup) => [signup.customer_id, signup]))
  return wanted.flatMap((one): KnownCustomer[] => {
    const { customer_id, stored, affiliations = [] } = one
    if (stored) {
      const { signup, fields, refusal } = stored
      return [
        { customer_id, signup, affiliations, fields: [{ from: null, values: fields }], refusal },
      ]
    }
    const history = histories.get(customer_id)
    const signup = signupOf.get(keys.get(one) ?? '')
    return history && signup ? [{ customer_id, signup, ...history }] : []
  })
}

/** The rows of a reading by customer. */
interface FoundRows {
  readonly kind: FactReading['kind']
  readonly rowsOf: ReadonlyMap<string, readonly FactRow[]>
}

/** Puts together a customer. The signup is a fact, too. */
function toCustomer(
  { settings }: AccountSource,
  { customer_id, signup: row, affiliations, fields, refusal }: KnownCustomer,
  found: readonly FoundRows[],
): Customer {
  const { day, signup_date, delivery } = row
  const signup = signup_date ?? settings.dayStart(day)
  const own: Fact = {
    ...SIGNUP,
    id: customer_id,
    at: signup,
    wholeDay: signup_date === null,
    day,
    delivery_id: delivery,
  }
  const facts: Fact[] = [own]
  const id = String(decode(customers.customer_id, row.customer_id))
  for (const { kind, rowsOf } of found) {
    for (const one of rowsOf.get(row.customer_id) ?? []) facts.push(toFact(kind, one, id, settings))
  }
  return {
    customer_id,
    signup,
    signupDay: day,
    affiliates: dated(affiliations, ({ affiliate_id }) => affiliate_id),
    fields: dated(fields, ({ values }): CustomerFields => ({ ...NO_FIELDS, ...values })),
    refusedFrom: refusal && (dayOrNull(refusal.from) ?? Number.NEGATIVE_INFINITY),
    facts: facts.sort(compareFacts),
  }
}

const SIGNUP = {
  resource: 'customers',
  state: 'approved',
  kind: '',
  subtype: null,
  currency: null,
  instrument: null,
  product: null,
  amounts: new Map<string, bigint>(),
  count: 1,
} as const
