import { encode } from '../../db/column-types.ts'
import { type ChangedDays, customersPerCall } from '../../db/commission/books/changed-records.ts'
import { findCustomersOf } from '../../db/commission/customers-of.ts'
import type { FoundCustomer } from '../../db/commission/found-customer.ts'
import { customers } from '../../db/schema.ts'
import { dayText } from '../engine/calendar.ts'
import type { CauseGroup } from './cause-groups.ts'
import type { Computation } from './computation.ts'

/** Returns the id of a customer as it is stored. */
export const storedId = ({ customer_id }: FoundCustomer): string =>
  String(encode(customers.customer_id, customer_id))

/** Returns the groups of each affiliate whose customers have an effect on them. */
export function groupsByAffiliate(groups: readonly CauseGroup[]): Map<string, CauseGroup[]> {
  const found = new Map<string, CauseGroup[]>()
  for (const group of groups) {
    for (const affiliate of group.affiliates) {
      const own = found.get(affiliate)
      if (own) own.push(group)
      else found.set(affiliate, [group])
    }
  }
  return found
}

/**
 * Returns the groups on which a customer has or had an effect up to a day, each once. Affiliates of later
 * days are left out: whether such a customer is read depends on the other groups.
 */
export function groupsOf(
  byAffiliate: ReadonlyMap<string, readonly CauseGroup[]>,
  { affiliations }: FoundCustomer,
  to: string,
): Set<CauseGroup> {
  const begun = affiliations.filter(({ from }) => from === null || from <= to)
  return new Set(begun.flatMap(({ affiliate_id }) => byAffiliate.get(affiliate_id ?? '') ?? []))
}

/** Yields the customers that affiliates have or had, as many at a time as one query may have. */
export async function* customersOfAffiliates(
  { source, range }: Computation,
  affiliates: readonly string[],
  days: ChangedDays,
): AsyncGenerator<FoundCustomer[]> {
  const size = customersPerCall(days)
  const to = dayText(range.lastDay)
  const query = { account: source.account.id, affiliates, from: '0000-01-01', to }
  const seen = new Set<string>()
  for (let cursor: Parameters<typeof findCustomersOf>[2] = null; ; ) {
    const page = await findCustomersOf(source, query, cursor)
    const found = page.customers.filter(({ customer_id }) => !seen.has(customer_id))
    for (const { customer_id } of found) seen.add(customer_id)
    for (let i = 0; i < found.length; i += size) yield found.slice(i, i + size)
    if (page.next === null) return
    cursor = page.next
  }
}
