import { encode } from '../../db/column-types.ts'
import type { FactReading } from '../../db/commission/fact-readings.ts'
import {
  type FactRow,
  readFactRows,
  readSignups,
  type SignupRow,
} from '../../db/commission/facts.ts'
import { type CustomerHistory, readHistories } from '../../db/commission/histories.ts'
import { customers } from '../../db/schema.ts'
import {
  type Customer,
  type CustomerFields,
  compareFacts,
  type Fact,
  NO_FIELDS,
} from '../engine/facts.ts'
import { type AccountSource, dated, dayOrNull } from './source.ts'
import { toFact } from './to-facts.ts'

/**
 * Reads customers with their histories and facts. `ids` are at most as many as `customersPerReading`
 * returns; a customer that is not stored is left out.
 */
export async function readCustomers(
  source: AccountSource,
  readings: readonly FactReading[],
  ids: readonly string[],
  areDense: boolean,
): Promise<Customer[]> {
  const { db, account } = source
  const stored = new Map(ids.map((id) => [String(encode(customers.customer_id, id)), id]))
  const keys = [...stored.keys()]
  const [histories, signups, rows] = await Promise.all([
    readHistories(source, account.id, ids),
    readSignups(db, account.id, keys),
    readFactRows(db, account.id, readings, { ids: keys, areDense }),
  ])
  const facts = groupFacts(source, readings, rows, stored)
  return signups.flatMap((signup) => {
    const id = stored.get(signup.customer_id) ?? ''
    const history = histories.get(id)
    return history ? [toCustomer(source, id, signup, history, facts.get(id) ?? [])] : []
  })
}

function groupFacts(
  { settings }: AccountSource,
  readings: readonly FactReading[],
  rows: readonly (readonly FactRow[])[],
  stored: ReadonlyMap<string, string>,
): Map<string, Fact[]> {
  const facts = new Map<string, Fact[]>()
  for (const [i, { kind }] of readings.entries()) {
    for (const row of rows[i] ?? []) {
      const id = stored.get(String(row.customer_id)) ?? ''
      const own = facts.get(id)
      const fact = toFact(kind, row, id, settings)
      if (own) own.push(fact)
      else facts.set(id, [fact])
    }
  }
  return facts
}

/** Puts together a customer. The signup is a fact, too. */
function toCustomer(
  { settings }: AccountSource,
  customer_id: string,
  { day, signup_date, delivery }: SignupRow,
  { affiliations, fields, refusal }: CustomerHistory,
  facts: readonly Fact[],
): Customer {
  const signup = signup_date ?? settings.dayStart(day)
  const own: Fact = {
    ...SIGNUP,
    id: customer_id,
    at: signup,
    wholeDay: signup_date === null,
    day,
    delivery_id: delivery,
  }
  return {
    customer_id,
    signup,
    signupDay: day,
    affiliates: dated(affiliations, ({ affiliate_id }) => affiliate_id),
    fields: dated(fields, ({ values }): CustomerFields => ({ ...NO_FIELDS, ...values })),
    refusedFrom: refusal && (dayOrNull(refusal.from) ?? Number.NEGATIVE_INFINITY),
    facts: [own, ...facts].sort(compareFacts),
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
