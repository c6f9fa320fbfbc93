import type { PeriodContext } from '../engine/context.ts'
import { asOf, type EvaluatedCustomer } from '../engine/evaluate.ts'
import {
  addPart,
  type ExplainContext,
  type ExplainedLine,
  isFunded,
  type LineFacts,
  noLineFacts,
  type Part,
  partOf,
  scopeName,
  tallyOfLine,
} from '../engine/explain.ts'
import type { Line } from '../engine/line.ts'
import { type PeriodTallies, reduceCustomer } from '../engine/tally.ts'
import { uplineRules } from '../engine/uplines.ts'
import { type Computation, TooManyFacts } from '../statements/compute.ts'
import { FRESH_LIMITS } from '../statements/limits.ts'
import { periodQueries } from './record-queries.ts'
import { type CustomerFilter, evaluatedCustomers } from './unearned.ts'

/** A line as it is computed now, with all that its explanation reads. */
export interface FoundLine extends ExplainedLine {
  readonly context: ExplainContext
}

/** The totals of a line's facts, and what each customer adds to the line. */
export interface LineParts {
  readonly facts: LineFacts
  readonly parts: readonly Omit<Part, 'sums'>[]
}

/** What identifies a line among those of an affiliate, plan and period. */
type LineKey = Pick<Line, 'rule' | 'version' | 'scope'>

/** Whether a line is made from facts, and not from other lines or a qualification. */
export const sumsFacts = (line: Line): boolean =>
  !isFunded(line) && (line.base !== null || line.units !== null) && line.once === null

/** Returns a function that returns what a customer adds to a line of an affiliate; null: nothing. */
export function reducer(
  context: PeriodContext,
  affiliate: string,
  line: LineKey,
): (evaluated: EvaluatedCustomer) => Part | null {
  const rulesOf = uplineRules(context)
  return (evaluated) => {
    const tallies: PeriodTallies = new Map()
    const known = asOf(evaluated, context.period.last)
    const own = reduceCustomer(context, tallies, known, rulesOf)
    const target = tallyOfLine(tallies, affiliate, line)
    return partOf(line, target, evaluated.customer.customer_id, own, context.rates)
  }
}

/** Returns an empty collection, and a function that adds a customer to it. */
function partsCollector(reduce: ReturnType<typeof reducer>) {
  const facts = noLineFacts()
  const parts: Omit<Part, 'sums'>[] = []
  return {
    collected: { facts, parts } satisfies LineParts,
    add(evaluated: EvaluatedCustomer): void {
      const part = reduce(evaluated)
      if (part === null) return
      addPart(facts, part)
      const { sums: _, ...own } = part
      parts.push(own)
    },
  }
}

/** Whether a line counts the facts of a single customer. */
const isPerCustomer = ({ rule }: LineKey): boolean =>
  rule.kind === 'share' && rule.per === 'customer'

/**
 * Returns a collector of what customers add to a line while its statement is computed: `collect` must be
 * called for each customer, and throws `TooManyFacts` after too many. Returns null for lines of a single
 * customer, which `readParts` reads.
 */
export function collectParts(context: PeriodContext, affiliate: string, line: LineKey) {
  if (line.rule.kind === 'once' || isPerCustomer(line)) return null
  const { collected, add } = partsCollector(reducer(context, affiliate, line))
  let facts = 0
  const collect = (evaluated: EvaluatedCustomer): EvaluatedCustomer => {
    for (const { count } of evaluated.customer.facts) facts += count
    if (facts > FRESH_LIMITS.facts) throw new TooManyFacts()
    add(evaluated)
    return evaluated
  }
  return { collected, collect }
}

/** Returns whose facts a line counts. */
function customersOfLine({ line, result }: FoundLine): CustomerFilter {
  if (line.rule.kind === 'override') return { affiliate_id: scopeName(line.scope) }
  return isPerCustomer(line)
    ? { customer_id: scopeName(line.scope) }
    : { affiliate_id: result.affiliate }
}

/** Reads what each customer adds to a line. */
export async function readParts(computation: Computation, found: FoundLine): Promise<LineParts> {
  const { context, line, result } = found
  const { collected, add } = partsCollector(reducer(context, result.affiliate, line))
  if (!sumsFacts(line)) return collected
  const queries = periodQueries(computation, context.period)
  for await (const evaluated of evaluatedCustomers(computation, customersOfLine(found), queries))
    add(evaluated)
  return collected
}
