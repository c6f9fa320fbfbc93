import { type FactReading, factReadings } from '../../db/commission/fact-readings.ts'
import type { Computation } from '../drafts/computation.ts'
import { TooManyFacts } from '../drafts/compute.ts'
import { MAX_FRESH_FACTS } from '../drafts/limits.ts'
import type { PeriodContext } from '../engine/context.ts'
import type { ExplainContext, ExplainedLine } from '../engine/explain-input.ts'
import { isFunded } from '../engine/explain-plan.ts'
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
import { judgedCustomers, type Whose } from './open.ts'

/** A line as it is computed now, with all that its explanation reads. */
export interface FoundLine extends ExplainedLine {
  readonly context: ExplainContext
}

/** What the facts of a line come to, and what each customer adds to it. */
export interface LineParts {
  readonly facts: LineFacts
  readonly parts: readonly Omit<Part, 'sums'>[]
}

/** What tells the line of an affiliate and plan in a period from others. */
type LineKey = Pick<Line, 'rule' | 'version' | 'scope'>

/** Whether a line is made from facts, and not from other lines or a qualification. */
export const sumsFacts = (line: Line): boolean =>
  !isFunded(line) && (line.base !== null || line.units !== null) && line.once === null

/** Returns a function that finds what a customer adds to a line of an affiliate. */
export function reducer(
  context: PeriodContext,
  affiliate: string,
  line: LineKey,
): (judged: JudgedCustomer) => Part | null {
  const rulesOf = uplineRules(context)
  return (judged) => {
    const tallies: PeriodTallies = new Map()
    const known = asOf(judged, context.period.last)
    const own = reduceCustomer(context, tallies, known, rulesOf)
    const target = tallyOfLine(tallies, affiliate, line)
    return partOf(line, target, judged.customer.customer_id, own, context.rates)
  }
}

/** Collects what customers add to a line. */
function partsCollector(reduce: ReturnType<typeof reducer>) {
  const facts = noLineFacts()
  const parts: Omit<Part, 'sums'>[] = []
  return {
    collected: { facts, parts } satisfies LineParts,
    add(judged: JudgedCustomer): void {
      const part = reduce(judged)
      if (part === null) return
      addPart(facts, part)
      const { sums: _, ...own } = part
      parts.push(own)
    },
  }
}

/** Whether a line counts the facts of one customer. */
const isOfOne = ({ rule }: LineKey): boolean => rule.kind === 'share' && rule.per === 'customer'

/**
 * Collects what customers add to a line while its statement is computed; null for lines of one customer,
 * which are read apart. `keep` is told of each customer.
 *
 * @throws TooManyFacts
 */
export function collectParts(context: PeriodContext, affiliate: string, line: LineKey) {
  if (line.rule.kind === 'once' || isOfOne(line)) return null
  const { collected, add } = partsCollector(reducer(context, affiliate, line))
  let facts = 0
  const keep = (judged: JudgedCustomer): JudgedCustomer => {
    for (const { count } of judged.customer.facts) facts += count
    if (facts > MAX_FRESH_FACTS) throw new TooManyFacts()
    add(judged)
    return judged
  }
  return { collected, keep }
}

/** Whose facts a line counts. */
function whoseOf({ line, result }: FoundLine): Whose {
  if (line.rule.kind === 'override') return { affiliate_id: scopeName(line.scope) }
  return isOfOne(line) ? { customer_id: scopeName(line.scope) } : { affiliate_id: result.affiliate }
}

/** Reads what each customer adds to a line. */
export async function readParts(computation: Computation, found: FoundLine): Promise<LineParts> {
  const { context, line, result } = found
  const { collected, add } = partsCollector(reducer(context, result.affiliate, line))
  if (!sumsFacts(line)) return collected
  const readings = periodReadings(computation, found)
  for await (const judged of judgedCustomers(computation, whoseOf(found), readings)) add(judged)
  return collected
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
