import { dayText } from '../commission/engine/calendar.ts'
import { compareText } from '../commission/engine/facts.ts'
import { decode, encode } from '../db/column-types.ts'
import { findCustomersOf } from '../db/commission/customers-of.ts'
import { readSignups } from '../db/commission/facts.ts'
import type { FoundCustomer } from '../db/commission/found-customer.ts'
import type { Databases } from '../db/commission/histories.ts'
import { partsWithin } from '../db/commission/history.ts'
import { customers } from '../db/schema.ts'

/** An affiliate below, with the days on which they stood there. */
export interface BelowOnDays {
  readonly affiliate_id: string
  readonly from: string
  readonly to: string
}

/** A customer of an affiliate below. */
interface CustomerBelow {
  readonly customer: string
  readonly signup_day: string
}

/** The customers whom an affiliate below had on their days: the latest signups, and how many there are in all. */
export interface CustomersBelow {
  readonly customers: readonly CustomerBelow[]
  /** Null: too many to count. */
  readonly customers_total: number | null
}

/** The customers that are listed of each affiliate, and those that are read for all of them. */
const LIMITS = { listed: 100, read: 20_000 }

/** Reads the customers of affiliates below; `isWhole` is false if there are too many. */
async function readCustomers(
  databases: Databases,
  account: string,
  below: readonly BelowOnDays[],
): Promise<{ found: ReadonlyMap<string, FoundCustomer>; isWhole: boolean }> {
  const days = below.flatMap(({ from, to }) => [from, to]).sort()
  const query = {
    ...{ account, affiliates: [...new Set(below.map(({ affiliate_id }) => affiliate_id))] },
    ...{ from: days[0] ?? '', to: days.at(-1) ?? '' },
  }
  const found = new Map<string, FoundCustomer>()
  for (let cursor: Parameters<typeof findCustomersOf>[2] = null; ; ) {
    const step = await findCustomersOf(databases, query, cursor)
    for (const one of step.customers) found.set(one.customer_id, one)
    if (step.next === null) return { found, isWhole: true }
    if (found.size >= LIMITS.read) return { found, isWhole: false }
    cursor = step.next
  }
}

/** Reads the days of signups by customer. Those of customers whose affiliate never changed are known. */
async function readSignupDays(
  { db }: Databases,
  account: string,
  found: ReadonlyMap<string, FoundCustomer>,
): Promise<ReadonlyMap<string, string>> {
  const known = [...found.values()].flatMap(({ stored }) => stored?.signup ?? [])
  const unknown = [...found.values()].filter(({ stored }) => stored === null)
  const ids = unknown.map((one) => String(encode(customers.customer_id, one.customer_id)))
  const read = ids.length > 0 ? await readSignups(db, account, ids) : []
  return new Map(
    [...known, ...read].map(({ customer_id, signup_day }) => [
      String(decode(customers.customer_id, customer_id)),
      dayText(signup_day),
    ]),
  )
}

/** Returns the customers whom each affiliate below had on their days, in the order of `below`. */
export async function readCustomersBelow(
  databases: Databases,
  account: string,
  below: readonly BelowOnDays[],
): Promise<CustomersBelow[]> {
  if (below.length === 0) return []
  const { found, isWhole } = await readCustomers(databases, account, below)
  const signups = await readSignupDays(databases, account, found)
  return below.map(({ affiliate_id, from, to }) => {
    const own = [...found.values()]
      .filter(({ affiliations }) =>
        partsWithin(affiliations, from, to).some((one) => one.affiliate_id === affiliate_id),
      )
      .map((one) => ({
        customer: one.customer_id,
        signup_day: signups.get(one.customer_id) ?? '',
      }))
      .filter(({ signup_day }) => signup_day <= to)
      .sort(
        (a, b) => compareText(b.signup_day, a.signup_day) || compareText(a.customer, b.customer),
      )
    return {
      customers: own.slice(0, LIMITS.listed),
      customers_total: isWhole ? own.length : null,
    }
  })
}
