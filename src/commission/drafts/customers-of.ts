import { findCustomersOf } from '../../db/commission/customers-of.ts'
import { customersPerBatch, type FactQuery } from '../../db/commission/fact-queries.ts'
import type { FoundCustomer } from '../../db/commission/found-customer.ts'
import { dayText } from '../engine/calendar.ts'
import type { Customer } from '../engine/facts.ts'
import { customersPerKeptBatch } from '../facts/kept-costs.ts'
import type { KeptDaysInUse } from '../facts/kept-days-in-use.ts'
import { type IsNeeded, readCustomers } from '../facts/read-customers.ts'
import type { Computation } from './computation.ts'

/**
 * Yields the customers that these affiliates had on any day, a few at a time; each customer once. Each
 * batch can be iterated only once.
 *
 * @param affiliates Null: all customers.
 * @param queries The queries that read their facts.
 * @param kept The kept days to use; null: all facts are read from the records.
 */
export async function* customersOf(
  { source, range }: Computation,
  affiliates: readonly string[] | null,
  queries: readonly FactQuery[],
  isNeeded: IsNeeded = () => true,
  kept: KeptDaysInUse | null = null,
): AsyncGenerator<Iterable<Customer>> {
  const size = kept ? customersPerKeptBatch(kept, queries) : customersPerBatch(queries)
  const query = {
    account: source.account.id,
    affiliates,
    from: '0000-01-01',
    to: dayText(range.lastDay),
  }
  const seen = new Set<string>()
  let waiting: FoundCustomer[] = []
  /** How many customers have ids in the range of those who wait. */
  let inRange = 0
  for (let cursor: Parameters<typeof findCustomersOf>[2] = null; ; ) {
    const { customers, searched, next } = await findCustomersOf(source, query, cursor)
    inRange += searched
    for (const customer of customers) {
      if (seen.has(customer.customer_id)) continue
      seen.add(customer.customer_id)
      waiting.push(customer)
    }
    while (waiting.length >= size || (next === null && waiting.length > 0)) {
      const share = waiting.length / inRange
      const chunk = waiting.slice(0, size)
      yield await readCustomers(source, queries, chunk, share, isNeeded, kept)
      waiting = waiting.slice(size)
      inRange = waiting.length / share
    }
    if (next === null) return
    cursor = next
  }
}
