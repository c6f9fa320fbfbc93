import { compareText } from './facts.ts'
import {
  add,
  compare,
  divide,
  isNegative,
  isPositive,
  least,
  multiply,
  negate,
  parse,
  type Rational,
  round,
  subtract,
  sum,
  ZERO,
} from './rational.ts'

/**
 * Applies the fence to an affiliate's base and the bases of its customers (§12, §16.21). `held` has
 * what is held against each customer, and changes.
 */
export function applyFence(
  fence: { customer: string; affiliate: string },
  base: Rational,
  customers: Map<string, Rational>,
  held: Map<string, Rational>,
) {
  let after = base
  let paidBack = ZERO
  const left = new Map(customers)
  for (const [customer, own] of customers) {
    const owed = held.get(customer) ?? ZERO
    if (!isPositive(own) || !isPositive(owed)) continue
    const paid = least(own, owed)
    held.set(customer, subtract(owed, paid))
    left.set(customer, subtract(own, paid))
    paidBack = add(paidBack, paid)
    after = subtract(after, paid)
  }
  const isMet = compare(after, parse(fence.affiliate)) <= 0
  const fenced = [...left]
    .filter(([, own]) => isMet && isNegative(own) && compare(own, parse(fence.customer)) <= 0)
    .sort(([a], [b]) => compareText(a, b))
  const losses = negate(sum(fenced.map(([, own]) => own)))
  const all = least(negate(after), losses)
  if (fenced.length === 0 || !isPositive(all)) return { base, paidBack, fenced: ZERO, after }
  let rest = all
  fenced.forEach(([customer, own], at) => {
    const isLast = at === fenced.length - 1
    const share = isLast ? rest : round(divide(multiply(all, negate(own)), losses), 12)
    rest = subtract(rest, share)
    held.set(customer, add(held.get(customer) ?? ZERO, share))
  })
  return { base, paidBack, fenced: all, after: add(after, all) }
}
