import type { Version } from './book.ts'
import { conversionOf, convertUnits, type RateLookup } from './convert.ts'
import { add, type Decimal, fromFact, multiply, ZERO } from './decimal.ts'
import { amountOf, type Fact } from './facts.ts'
import type { HoldReason } from './reasons.ts'
import type { CompiledTerm, CompiledUnit } from './terms.ts'

/** An amount in its own currency, and converted. */
export interface Fx {
  readonly amount: Decimal
  readonly converted: Decimal
}

/** What facts of one customer, or of one scope, come to under a rule. */
export interface Sums {
  /** The base in the plan's currency, without `fixed` terms. */
  base: Decimal
  /** Units before `each`. */
  units: Decimal
  /** How many records were counted. */
  facts: number
}

/** What the facts of a rule come to in a period: by customer, by product and in all. */
export interface Tally {
  readonly total: Sums
  readonly customers: Map<string, Sums>
  readonly products: Map<string, Sums>
  /** By scope (`""`, a customer or a product), then by currency. */
  readonly fx: Map<string, Map<string, Fx>>
}

/** Returns sums of 0. */
export const noSums = (): Sums => ({ base: ZERO, units: ZERO, facts: 0 })

/** Returns a tally without facts. */
export const newTally = (): Tally => ({
  total: noSums(),
  customers: new Map(),
  products: new Map(),
  fx: new Map(),
})

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
  readonly groups: Map<string, Group>
  units: bigint
  counted: Set<Fact>
  records: number
}

/** Returns the tally of a customer without facts. */
export const newCustomerTally = (): CustomerTally => ({
  groups: new Map(),
  units: 0n,
  counted: new Set(),
  records: 0,
})

function markCounted(tally: CustomerTally, fact: Fact): void {
  if (tally.counted.has(fact)) return
  tally.counted.add(fact)
  tally.records += fact.count
}

/** Adds a fact to its group. Returns why it cannot be converted, or null. */
export function addToGroup(
  tally: CustomerTally,
  index: number,
  term: CompiledTerm,
  fact: Fact,
  currency: string,
  rates: RateLookup,
): HoldReason | null {
  const own = term.currencyOf(fact)
  const conversion = conversionOf(fact, term.field, own, currency, rates)
  if (conversion.by === 'none') return conversion.reason
  const from = conversion.from
  const key = `${index}|${fact.day}|${from}|${fact.product ?? ''}`
  let group = tally.groups.get(key)
  if (group === undefined) {
    const { product, day } = fact
    const empty = { count: 0, units: 0n, alone: 0n, aloneConverted: 0n }
    group = { term, product, day, currency: from, ...empty }
    tally.groups.set(key, group)
  }
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

/** Adds what one customer's facts came to. */
export function addCustomer(
  tally: Tally,
  customer: string,
  one: CustomerTally,
  version: Version,
  per: 'affiliate' | 'customer' | 'product',
  rates: RateLookup,
): void {
  if (one.records === 0) return
  const sums = sumsOf(tally.customers, customer)
  for (const group of one.groups.values()) {
    const product = group.product ?? ''
    const converted = multiply(
      fromFact(convertGroup(group, version.currency, rates)),
      group.term.weight,
    )
    const amount = multiply(fromFact(group.units + group.alone), group.term.weight)
    sums.base = add(sums.base, converted)
    tally.total.base = add(tally.total.base, converted)
    const ofProduct = sumsOf(tally.products, product)
    ofProduct.base = add(ofProduct.base, converted)
    ofProduct.facts += group.count
    const scope = per === 'customer' ? customer : per === 'product' ? product : ''
    addFx(tally, scope, group.currency, { amount, converted })
  }
  const units = fromFact(one.units)
  sums.units = add(sums.units, units)
  sums.facts += one.records
  tally.total.units = add(tally.total.units, units)
  tally.total.facts += one.records
}

function sumsOf(map: Map<string, Sums>, key: string): Sums {
  const found = map.get(key) ?? noSums()
  map.set(key, found)
  return found
}

function addFx({ fx }: Tally, scope: string, currency: string, { amount, converted }: Fx): void {
  const byCurrency = fx.get(scope) ?? new Map<string, Fx>()
  fx.set(scope, byCurrency)
  const known = byCurrency.get(currency)
  byCurrency.set(currency, {
    amount: add(known?.amount ?? ZERO, amount),
    converted: add(known?.converted ?? ZERO, converted),
  })
}
