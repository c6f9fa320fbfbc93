import type { RateLookup } from './convert.ts'
import { add, type Decimal, fromFact, multiply, ZERO } from './decimal.ts'
import type { Version } from './plans-in-force.ts'
import { type CustomerTally, convertGroup, type Group } from './tally-groups.ts'
import type { CompiledTerm } from './terms.ts'

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

/** What the groups of a term, product and currency come to on all days. Integers are of 10^-12. */
interface TermTotal {
  readonly term: CompiledTerm
  readonly product: string
  readonly currency: string
  count: number
  amount: bigint
  converted: bigint
}

/** Converts groups, each on its day, and joins the days: a base is linear, so weights can follow. */
function joinDays(
  groups: readonly Group[],
  currency: string,
  rates: RateLookup,
): Iterable<TermTotal[]> {
  const byProduct = new Map<string | null, TermTotal[]>()
  for (const group of groups) {
    const totals = byProduct.get(group.product) ?? []
    if (totals.length === 0) byProduct.set(group.product, totals)
    const total = totalOf(totals, group)
    total.count += group.count
    total.amount += group.units + group.alone
    total.converted += convertGroup(group, currency, rates)
  }
  return byProduct.values()
}

/** Returns the total of a group's term and currency, which is empty at first. */
function totalOf(totals: TermTotal[], { term, product, currency }: Group): TermTotal {
  for (const one of totals) if (one.term === term && one.currency === currency) return one
  const empty = { count: 0, amount: 0n, converted: 0n }
  const created: TermTotal = { term, product: product ?? '', currency, ...empty }
  totals.push(created)
  return created
}

/** How the sums of a rule are kept beside their total. */
export interface KeptSums {
  readonly per: 'affiliate' | 'customer' | 'product'
  /** Whether the sums of each customer are needed. */
  readonly customers: boolean
}

/** Adds what one customer's facts came to. */
export function addCustomer(
  tally: Tally,
  customer: string,
  one: CustomerTally,
  version: Version,
  { per, customers }: KeptSums,
  rates: RateLookup,
): void {
  if (one.records === 0) return
  let base = ZERO
  for (const totals of joinDays(one.groups, version.currency, rates)) {
    for (const total of totals) {
      const { term, product, currency, count } = total
      const converted = multiply(fromFact(total.converted), term.weight)
      const amount = multiply(fromFact(total.amount), term.weight)
      base = add(base, converted)
      if (per === 'product') {
        addSums(sumsOf(tally.products, product), { base: converted, units: ZERO, facts: count })
      }
      const scope = per === 'customer' ? customer : per === 'product' ? product : ''
      addFx(tally, scope, currency, { amount, converted })
    }
  }
  const sums: Sums = { base, units: fromFact(one.units), facts: one.records }
  if (customers) addSums(sumsOf(tally.customers, customer), sums)
  addSums(tally.total, sums)
}

function addSums(to: Sums, { base, units, facts }: Sums): void {
  to.base = add(to.base, base)
  to.units = add(to.units, units)
  to.facts += facts
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
