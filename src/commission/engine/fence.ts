import {
  add,
  compare,
  type Decimal,
  isPositive,
  least,
  multiply,
  negate,
  PLACES,
  quotient,
  subtract,
  sum,
  ZERO,
} from './decimal.ts'
import { compareText } from './facts.ts'

/** A fenced base: what customers paid back, and what they still have to pay back. */
export interface Fenced {
  readonly before: Decimal
  readonly paidBack: Decimal
  readonly fenced: Decimal
  readonly base: Decimal
  /** What each customer still has to pay back. */
  readonly toPayBack: Map<string, Decimal>
}

/**
 * Keeps the large losses of single customers out of an affiliate's base (§12 "Fence").
 *
 * @param base The affiliate's base, `fixed` terms included.
 * @param customers The base of each customer.
 * @param toPayBack What each customer has to pay back from earlier periods.
 */
export function applyFence(
  thresholds: { readonly customer: Decimal; readonly affiliate: Decimal },
  base: Decimal,
  customers: ReadonlyMap<string, Decimal>,
  toPayBack: ReadonlyMap<string, Decimal>,
): Fenced {
  const after = payBack(customers, toPayBack)
  const left = subtract(base, after.paidBack)
  const share =
    compare(left, thresholds.affiliate) <= 0
      ? fenceLosses(thresholds.customer, left, customers)
      : []
  for (const [customer, part] of share) {
    after.toPayBack.set(customer, add(after.toPayBack.get(customer) ?? ZERO, part))
  }
  const fenced = sum(share.map(([, part]) => part))
  return {
    before: base,
    paidBack: after.paidBack,
    fenced,
    base: add(left, fenced),
    toPayBack: after.toPayBack,
  }
}

/** Uses a customer's positive base to pay back what that customer has to pay back. */
function payBack(
  customers: ReadonlyMap<string, Decimal>,
  toPayBack: ReadonlyMap<string, Decimal>,
): { toPayBack: Map<string, Decimal>; paidBack: Decimal } {
  const left = new Map(toPayBack)
  let paidBack = ZERO
  for (const [customer, owed] of toPayBack) {
    const base = customers.get(customer)
    if (base === undefined || !isPositive(base) || !isPositive(owed)) continue
    const paid = least(base, owed)
    left.set(customer, subtract(owed, paid))
    paidBack = add(paidBack, paid)
  }
  return { toPayBack: left, paidBack }
}

/**
 * Shares the fenced loss among the customers at or below the threshold: the smaller of the loss of the
 * whole base and the sum of their own losses. Shares are in proportion to these, rounded to 12 places; the
 * last customer id takes the remainder (§16.21).
 */
function fenceLosses(
  threshold: Decimal,
  base: Decimal,
  customers: ReadonlyMap<string, Decimal>,
): [string, Decimal][] {
  const losses = [...customers]
    .filter(([, own]) => compare(own, threshold) <= 0 && compare(own, ZERO) < 0)
    .sort(([a], [b]) => compareText(a, b))
    .map(([customer, own]) => [customer, negate(own)] as const)
  const lost = sum(losses.map(([, loss]) => loss))
  const fenced = least(negate(base), lost)
  if (!isPositive(fenced)) return []
  let left = fenced
  return losses.map(([customer, loss], index) => {
    const last = index === losses.length - 1
    const part = last ? left : quotient(multiply(fenced, loss), lost, PLACES)
    left = subtract(left, part)
    return [customer, part]
  })
}
