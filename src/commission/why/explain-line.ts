import { type FactReading, factReadings } from '../../db/commission/fact-readings.ts'
import type { Computation } from '../drafts/computation.ts'
import { dayText } from '../engine/calendar.ts'
import { fromFact, plainText } from '../engine/decimal.ts'
import { explainLine } from '../engine/explain.ts'
import { instantText } from '../engine/explain-once.ts'
import { isFunded } from '../engine/explain-plan.ts'
import type { Explanation } from '../engine/explanation.ts'
import { type Customer, compareFacts, compareText, type Fact } from '../engine/facts.ts'
import { asOf } from '../engine/judge.ts'
import type { JudgedCustomer } from '../engine/judged.ts'
import type { Line } from '../engine/line.ts'
import {
  addPart,
  type LineFacts,
  noLineFacts,
  type Part,
  partOf,
  scopeName,
  tallyOfLine,
} from '../engine/line-facts.ts'
import { reduceCustomer } from '../engine/reduce.ts'
import type { PeriodTallies } from '../engine/tallies.ts'
import { uplineRules } from '../engine/uplines.ts'
import { readCustomer } from '../facts/read-customers.ts'
import { judgedCustomers, onceReadings, recordReadings, type Whose } from './open.ts'
import type { FoundLine } from './opened-line.ts'

/** Explains a line as it is computed now. */
export async function explain(computation: Computation, found: FoundLine): Promise<Explanation> {
  const [{ facts }, customer] = await Promise.all([
    partsOf(computation, found),
    onceCustomer(computation, found.line),
  ])
  return explainLine(found.context, found, facts, customer)
}

/** Reads the customer of a `once` line. */
async function onceCustomer(computation: Computation, { once }: Line): Promise<Customer | null> {
  if (once === null) return null
  const readings = onceReadings(computation)
  return readCustomer(computation.source, readings, once.customerId)
}

/** Whether a line is made from facts, and not from other lines or a qualification. */
const sumsFacts = (line: Line): boolean =>
  !isFunded(line) && (line.base !== null || line.units !== null) && line.once === null

/** Whose facts a line counts. */
function whoseOf({ line, result }: FoundLine): Whose {
  const { rule, scope } = line
  if (rule.kind === 'override') return { affiliate_id: scopeName(scope) }
  const isOne = rule.kind === 'share' && rule.per === 'customer'
  return isOne ? { customer_id: scopeName(scope) } : { affiliate_id: result.affiliate }
}

/** What the facts of a line come to, and what each customer adds to it. */
interface LineParts {
  readonly facts: LineFacts
  readonly parts: readonly CustomerPart[]
}

const PARTS = new WeakMap<FoundLine, Promise<LineParts>>()

/** Reads what each customer adds to a line, once for its explanation and its parts. */
export function partsOf(computation: Computation, found: FoundLine): Promise<LineParts> {
  const parts = PARTS.get(found) ?? readParts(computation, found)
  PARTS.set(found, parts)
  return parts
}

async function readParts(computation: Computation, found: FoundLine): Promise<LineParts> {
  const facts = noLineFacts()
  const parts: CustomerPart[] = []
  if (!sumsFacts(found.line)) return { facts, parts }
  const readings = periodReadings(computation, found)
  const reduce = reducer(found)
  for await (const judged of judgedCustomers(computation, whoseOf(found), readings)) {
    const part = reduce(judged)
    if (part === null) continue
    addPart(facts, part)
    parts.push(presentPart(part, found))
  }
  return { facts, parts }
}

/** Returns the readings of the records of the period, summed by what plans ask for. */
function periodReadings(
  { source, range }: Computation,
  { context: { period } }: FoundLine,
): FactReading[] {
  const inside = (days: readonly number[]): number[] =>
    days.filter((day) => day >= period.first && day <= period.last)
  const split = ({ single, summed }: (typeof range.days)['events']) => ({
    single: inside(single),
    summed: inside(summed),
  })
  const { transactions, activity, events } = range.days
  return factReadings(source.selection, {
    transactions: split(transactions),
    activity: split(activity),
    events: split(events),
  })
}

/** Returns a function that finds what a customer adds to a line. */
function reducer({ context, line, result }: FoundLine): (judged: JudgedCustomer) => Part | null {
  const rulesOf = uplineRules(context)
  return (judged) => {
    const tallies: PeriodTallies = new Map()
    const known = asOf(judged, context.period.last)
    const own = reduceCustomer(context, tallies, known, rulesOf)
    const target = tallyOfLine(tallies, result.affiliate, line)
    return partOf(line, target, judged.customer.customer_id, own, context.rates)
  }
}

/** What a customer adds to a line, on the wire. */
export interface CustomerPart {
  readonly customer_id: string
  readonly records: number
  readonly base: string | null
  readonly units: string | null
}

const presentPart = (
  { customer_id, base, units, records }: Part,
  { line }: FoundLine,
): CustomerPart => ({
  customer_id,
  records,
  base: line.base === null ? null : plainText(base),
  units: line.units === null ? null : plainText(units),
})

/** A record that a line counts, on the wire. */
export interface PartRecord {
  readonly resource: Fact['resource']
  readonly id: string
  readonly day: string
  readonly at: string | null
  readonly type: string | null
  readonly currency: string | null
  readonly amounts: Readonly<Record<string, string>>
  /** What it adds alone, in the plan's currency. */
  readonly base: string | null
  readonly units: string | null
  readonly delivery_id: string | null
}

/** Returns the records of a customer that a line counts, in order of time. */
export async function recordsOf(
  computation: Computation,
  found: FoundLine,
  customer_id: string,
): Promise<PartRecord[]> {
  const { line, context } = found
  const readings = recordReadings(computation, context.period)
  const records: PartRecord[] = []
  for await (const judged of judgedCustomers(computation, { customer_id }, readings)) {
    if (line.once !== null) {
      const isOwn = line.once.customerId === customer_id
      const used = isOwn ? usedRecords(line, judged) : []
      return used.map((fact) => presentRecord(fact, null, line))
    }
    if (!sumsFacts(line)) return []
    const reduce = reducer(found)
    for (const fact of judged.customer.facts) {
      const part = reduce({ ...judged, customer: { ...judged.customer, facts: [fact] } })
      if (part) records.push(presentRecord(fact, part, line))
    }
  }
  return records
}

/** Returns the records of a qualification, as they are read one by one. */
function usedRecords({ once }: Line, { customer }: JudgedCustomer): Fact[] {
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
