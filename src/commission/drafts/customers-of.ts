import { findCustomersOf } from '../../db/commission/customers-of.ts'
import { customersPerReading, type FactReading } from '../../db/commission/fact-readings.ts'
import type { FoundCustomer } from '../../db/commission/found-customer.ts'
import { dayText } from '../engine/calendar.ts'
import type { Customer } from '../engine/facts.ts'
import type { KeptReading } from '../facts/kept.ts'
import { readCustomers } from '../facts/read-customers.ts'
import { keptCustomers } from '../facts/read-kept.ts'
import type { Computation } from './computation.ts'

/**
 * Yields the customers that these affiliates had on any day, or all customers, a few at a time. Each can
 * be looked at once.
 *
 * @param readings What is read of their records.
 * @param isNeeded Whether the records of a reading are needed of a customer.
 * @param kept What is kept of the rows of these readings.
 */
export async function* customersOf(
  { source, range }: Computation,
  affiliates: readonly string[] | null,
  readings: readonly FactReading[],
  isNeeded: Parameters<typeof readCustomers>[4] = () => true,
  kept: KeptReading | null = null,
): AsyncGenerator<Iterable<Customer>> {
  const size = kept ? keptCustomers(kept, readings) : customersPerReading(readings)
  const query = {
    account: source.account.id,
    affiliates,
    from: '0000-01-01',
    to: dayText(range.lastDay),
  }
  const seen = new Set<string>()
  let waiting: FoundCustomer[] = []
  /** The customers in the range of ids of those who wait. */
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
      yield await readCustomers(source, readings, chunk, share, isNeeded, kept)
      waiting = waiting.slice(size)
      inRange = waiting.length / share
    }
    if (next === null) return
    cursor = next
  }
}
