import type { RateLookup } from './convert.ts'
import { add, type Decimal, fromFact, multiply, ZERO } from './decimal.ts'
import type { Line } from './line.ts'
import type { CustomerTallies } from './reduce.ts'
import type { PeriodTallies, RuleTally } from './tallies.ts'
import { type CustomerTally, convertGroup, type Group } from './tally-groups.ts'
import type { CompiledTerm } from './terms.ts'

/** Amounts of a term in one currency, on one day or on all. Integers are of 10^-12. */
export interface TermSum {
  readonly term: CompiledTerm
  readonly currency: string
  readonly day: number
  /** Records that the term counts. */
  count: number
  /** Sums of a customer and product that were converted apart. */
  sums: number
  units: bigint
  converted: bigint
  alone: bigint
  aloneConverted: bigint
}

/** What the facts of one line come to, collected customer by customer. */
export interface LineFacts {
  /** The base that the facts make, without `fixed` terms. */
  base: Decimal
  units: Decimal
  /** Different records. */
  records: number
  customers: number
  /** By term, then by day and currency. */
  readonly sums: Map<CompiledTerm, Map<string, TermSum>>
}

/** What one customer adds to a line. */
export interface Part {
  readonly customer_id: string
  readonly base: Decimal
  readonly units: Decimal
  readonly records: number
  readonly sums: readonly TermSum[]
}

/** Returns the facts of a line without any. */
export const noLineFacts = (): LineFacts => ({
  base: ZERO,
  units: ZERO,
  records: 0,
  customers: 0,
  sums: new Map(),
})

/** Returns the tally that a line was made from; null if its rule sums no facts of its own. */
export function tallyOfLine(
  tallies: PeriodTallies,
  affiliate: string,
  { rule, scope }: Pick<Line, 'rule' | 'scope'>,
): RuleTally | null {
  const own = tallies.get(affiliate)
  if (rule.kind !== 'override') return own?.ownRules.get(rule) ?? null
  return own?.overrides.get(rule)?.get(scopeName(scope)) ?? null
}

/** Returns the customer, product or affiliate of a scope. */
export const scopeName = (scope: string): string => scope.slice(scope.indexOf(':') + 1)

/** Returns what one customer adds to a line; null if nothing. */
export function partOf(
  line: Pick<Line, 'rule' | 'version' | 'scope'>,
  target: RuleTally | null,
  customer: string,
  tallies: CustomerTallies,
  rates: RateLookup,
): Part | null {
  const one = target && tallies.get(target)
  if (!one || one.records === 0 || !isInScope(line, customer)) return null
  const groups = one.groups.filter((group) => isGroupInScope(line, group))
  if (groups.length === 0 && one.groups.length > 0) return null
  const sums = groups.map((group) => sumOf(group, line.version.currency, rates))
  const base = sums.reduce(
    (total, { converted, aloneConverted, term }) =>
      add(total, multiply(fromFact(converted + aloneConverted), term.weight)),
    ZERO,
  )
  const records = recordsOf(line, one, groups)
  return { customer_id: customer, base, units: fromFact(one.units), records, sums }
}

const isInScope = ({ rule, scope }: Pick<Line, 'rule' | 'scope'>, customer: string): boolean =>
  rule.kind !== 'share' || rule.per !== 'customer' || scopeName(scope) === customer

const isGroupInScope = ({ rule, scope }: Pick<Line, 'rule' | 'scope'>, group: Group): boolean =>
  rule.kind !== 'share' || rule.per !== 'product' || scopeName(scope) === (group.product ?? '')

/** The different records; of a product those that its groups count. */
function recordsOf(
  line: Pick<Line, 'rule' | 'scope'>,
  { counted, records }: CustomerTally,
  groups: readonly Group[],
): number {
  if (line.rule.kind !== 'share' || line.rule.per !== 'product') return records
  const product = groups[0]?.product ?? ''
  let found = 0
  for (const fact of counted) if ((fact.product ?? '') === product) found += fact.count
  return found
}

function sumOf(group: Group, currency: string, rates: RateLookup): TermSum {
  const { term, day, count, units, alone, aloneConverted } = group
  return {
    term,
    day,
    count,
    units,
    alone,
    aloneConverted,
    currency: group.currency,
    sums: units === 0n ? 0 : 1,
    converted: convertGroup(group, currency, rates) - aloneConverted,
  }
}

/** Adds what a customer adds to a line. */
export function addPart(facts: LineFacts, part: Part): void {
  facts.base = add(facts.base, part.base)
  facts.units = add(facts.units, part.units)
  facts.records += part.records
  facts.customers += 1
  for (const sum of part.sums) addSum(facts.sums, sum)
}

function addSum(sums: LineFacts['sums'], sum: TermSum): void {
  const ofTerm = sums.get(sum.term) ?? new Map<string, TermSum>()
  sums.set(sum.term, ofTerm)
  const key = `${sum.day}|${sum.currency}`
  const known = ofTerm.get(key)
  if (known === undefined) {
    ofTerm.set(key, { ...sum })
    return
  }
  known.count += sum.count
  known.sums += sum.sums
  known.units += sum.units
  known.converted += sum.converted
  known.alone += sum.alone
  known.aloneConverted += sum.aloneConverted
}
