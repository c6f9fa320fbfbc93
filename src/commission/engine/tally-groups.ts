import { conversionOf, convertUnits, type RateLookup } from './convert.ts'
import { amountOf, type Fact } from './facts.ts'
import type { HoldReason } from './reasons.ts'
import type { CompiledTerm, CompiledUnit } from './terms.ts'

/**
 * Facts of one customer that convert together: those of one term, product, day and currency (§16.16).
 * Facts that `amount_usd` converts are in `alone`.
 */
export interface Group {
  readonly term: CompiledTerm
  readonly product: string | null
  readonly day: number
  readonly currency: string
  count: number
  units: bigint
  alone: bigint
  aloneConverted: bigint
}

/** What one customer's facts come to under a rule, before conversion. */
export interface CustomerTally {
  /** In order of day. */
  readonly groups: Group[]
  /** The same groups by product: a brand may send any number of products in a day. */
  readonly byProduct: Map<string | null, Group[]>
  units: bigint
  /** The facts that it counts, each once. */
  readonly counted: Fact[]
  records: number
}

/** Returns the tally of a customer without facts. */
export const newCustomerTally = (): CustomerTally => ({
  groups: [],
  byProduct: new Map(),
  units: 0n,
  counted: [],
  records: 0,
})

/** Counts a fact once: all terms look at a fact before any looks at the next. */
function markCounted(tally: CustomerTally, fact: Fact): void {
  if (tally.counted.at(-1) === fact) return
  tally.counted.push(fact)
  tally.records += fact.count
}

/** Returns the group of a fact under a term, which is empty at first. Facts come in order of time. */
function groupOf(
  { groups, byProduct }: CustomerTally,
  term: CompiledTerm,
  { product, day }: Fact,
  currency: string,
): Group {
  const ofProduct = byProduct.get(product) ?? []
  for (let i = ofProduct.length - 1; i >= 0; i--) {
    const group = ofProduct[i]
    if (!group || group.day < day) break
    if (group.day === day && group.term === term && group.currency === currency) return group
  }
  const empty = { count: 0, units: 0n, alone: 0n, aloneConverted: 0n }
  const created: Group = { term, product, day, currency, ...empty }
  insertByDay(groups, created)
  insertByDay(ofProduct, created)
  byProduct.set(product, ofProduct)
  return created
}

/** Inserts a group after those of its day. */
function insertByDay(groups: Group[], created: Group): void {
  let end = groups.length
  while ((groups[end - 1]?.day ?? created.day) > created.day) end--
  if (end === groups.length) groups.push(created)
  else groups.splice(end, 0, created)
}

/** Adds a fact to its group. Returns why it cannot be converted, or null. */
export function addToGroup(
  tally: CustomerTally,
  term: CompiledTerm,
  fact: Fact,
  currency: string,
  rates: RateLookup,
): HoldReason | null {
  const own = term.currencyOf(fact)
  const conversion = conversionOf(fact, term.field, own, currency, rates)
  if (conversion.by === 'none') return conversion.reason
  const group = groupOf(tally, term, fact, conversion.from)
  const amount = amountOf(fact, term.field)
  group.count += fact.count
  if (conversion.by === 'rate') group.units += amount
  else {
    group.alone += amount
    group.aloneConverted += conversion.converted
  }
  markCounted(tally, fact)
  return null
}

/** Adds a fact to the units. */
export function addUnits(tally: CustomerTally, unit: CompiledUnit, fact: Fact): void {
  tally.units += unit.counts ? BigInt(fact.count) * 1_000_000_000_000n : amountOf(fact, unit.field)
  markCounted(tally, fact)
}

/** Converts a group: its sum once, rounded to 12 places, and what `amount_usd` has converted. */
export function convertGroup(group: Group, currency: string, rates: RateLookup): bigint {
  const converted = convertUnits(group.units, group.currency, currency, group.day, rates)
  return group.aloneConverted + (typeof converted === 'string' ? 0n : converted)
}
