import type { FactQuery } from '../../db/commission/fact-queries.ts'
import type { Computation } from '../drafts/computation.ts'
import { TooManyFacts } from '../drafts/compute.ts'
import { customersOf } from '../drafts/customers-of.ts'
import { FRESH_LIMITS } from '../drafts/limits.ts'
import { evaluateCustomer } from '../engine/evaluate.ts'
import type { EvaluatedCustomer } from '../engine/evaluated.ts'
import type { Customer } from '../engine/facts.ts'
import { readCustomer } from '../facts/read-customers.ts'
import { yieldAfterFacts } from '../facts/yield-after-facts.ts'

/** Whose facts are read: one customer's, those of an affiliate's customers, or everyone's. */
export interface CustomerFilter {
  readonly customer_id?: string | undefined
  readonly affiliate_id?: string | undefined
}

/**
 * Reads the customers that match a filter, applies the rules of their plans, and yields them one by one.
 *
 * @throws TooManyFacts if they have more than `FRESH_LIMITS.facts` facts.
 */
export async function* evaluatedCustomers(
  computation: Computation,
  { customer_id, affiliate_id }: CustomerFilter,
  queries: readonly FactQuery[],
): AsyncGenerator<EvaluatedCustomer> {
  const { source, context } = computation
  const batches =
    customer_id === undefined
      ? customersOf(computation, affiliate_id === undefined ? null : [affiliate_id], queries)
      : oneCustomer(source, customer_id, queries)
  let facts = 0
  const yieldAfter = yieldAfterFacts()
  for await (const customers of batches) {
    for (const customer of customers) {
      for (const { count } of customer.facts) facts += count
      if (facts > FRESH_LIMITS.facts) throw new TooManyFacts()
      const pause = yieldAfter(customer.facts.length)
      if (pause) await pause
      yield evaluateCustomer(context, customer)
    }
  }
}

async function* oneCustomer(
  source: Computation['source'],
  customer_id: string,
  queries: readonly FactQuery[],
): AsyncGenerator<Iterable<Customer>> {
  const customer = await readCustomer(source, queries, customer_id)
  yield customer ? [customer] : []
}
