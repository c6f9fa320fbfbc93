import type { Computation } from '../drafts/computation.ts'
import { dayText } from '../engine/calendar.ts'
import { fromFact, plainText } from '../engine/decimal.ts'
import type { EvaluatedCustomer } from '../engine/evaluated.ts'
import { explainLine } from '../engine/explain.ts'
import { instantText } from '../engine/explain-once.ts'
import type { Explanation } from '../engine/explanation.ts'
import { type Customer, compareFacts, compareText, type Fact } from '../engine/facts.ts'
import type { Line } from '../engine/line.ts'
import type { Part } from '../engine/line-facts.ts'
import { readCustomer } from '../facts/read-customers.ts'
import type { ComputedLine } from './compute-line.ts'
import { evaluatedCustomers } from './evaluated-customers.ts'
import { reducer, sumsFacts } from './read-parts.ts'
import { onceQueries, recordQueries } from './record-queries.ts'

/** Explains a computed line. */
export async function explainComputed({
  computation,
  found,
  parts,
}: ComputedLine): Promise<Explanation> {
  const [{ facts }, customer] = await Promise.all([parts(), onceCustomer(computation, found.line)])
  return explainLine(found.context, found, facts, customer)
}

/** Reads the customer of a `once` line. */
async function onceCustomer(computation: Computation, { once }: Line): Promise<Customer | null> {
  if (once === null) return null
  const queries = onceQueries(computation)
  return readCustomer(computation.source, queries, once.customerId)
}

/** A record that a line counts, on the wire. */
export interface PartRecord {
  readonly resource: Fact['resource']
  readonly id: string
  readonly day: string
  readonly at: string | null
  readonly type: string | null
  readonly currency: string | null
  readonly amounts: Readonly<Record<string, string>>
  /** What this record alone adds to the base, in the plan's currency; null if the line has no base. */
  readonly base: string | null
  readonly units: string | null
  readonly delivery_id: string | null
}

/** Returns the records of a customer that a line counts, in order of time. */
export async function recordsOf(
  { computation, found: { line, context, result } }: ComputedLine,
  customer_id: string,
): Promise<PartRecord[]> {
  const queries = recordQueries(computation, context.period)
  const records: PartRecord[] = []
  for await (const evaluated of evaluatedCustomers(computation, { customer_id }, queries)) {
    if (line.once !== null) {
      const used = line.once.customerId === customer_id ? usedRecords(line, evaluated) : []
      return used.map((fact) => presentRecord(fact, null, line))
    }
    if (!sumsFacts(line)) return []
    const reduce = reducer(context, result.affiliate, line)
    for (const fact of evaluated.customer.facts) {
      const part = reduce({ ...evaluated, customer: { ...evaluated.customer, facts: [fact] } })
      if (part) records.push(presentRecord(fact, part, line))
    }
  }
  return records
}

/** Returns the records by which a customer qualified for a `once` line, in order of time. */
function usedRecords({ once }: Line, { customer }: EvaluatedCustomer): Fact[] {
  const key = ({ resource, id }: Fact): string => JSON.stringify([resource, id])
  const used = new Set([...(once?.used ?? [])].map(key))
  return customer.facts.filter((fact) => used.has(key(fact))).sort(compareFacts)
}

const presentRecord = (fact: Fact, part: Part | null, { base, units }: Line): PartRecord => ({
  resource: fact.resource,
  id: fact.id,
  day: dayText(fact.day),
  at: instantText(fact),
  type: fact.kind === '' ? null : fact.kind,
  currency: fact.currency,
  amounts: Object.fromEntries(
    [...fact.amounts]
      .sort(([a], [b]) => compareText(a, b))
      .map(([field, amount]) => [field, plainText(fromFact(amount))]),
  ),
  base: part && base !== null ? plainText(part.base) : null,
  units: part && units !== null ? plainText(part.units) : null,
  delivery_id: fact.delivery_id ?? null,
})
