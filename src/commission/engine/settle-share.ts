import { recoupedBy } from './advance.ts'
import { applyMax, limitLine } from './cap.ts'
import {
  add,
  amountAt,
  compare,
  type Decimal,
  greatest,
  isNegative,
  isPositive,
  isZero,
  least,
  multiply,
  negate,
  PLACES,
  quotient,
  round,
  subtract,
  sum,
  ZERO,
} from './decimal.ts'
import { compareText } from './facts.ts'
import { fxList, type Line, newLine } from './line.ts'
import { earlierOf, keepMeasure, measuresOf } from './measure.ts'
import { addRatio, NOTHING, type Ratio, ratio, roundRatio } from './ratio.ts'
import type { CompiledShare } from './rules.ts'
import { type PlanInput, type RuleOfVersion, rulesWith } from './settle-plan.ts'
import { stateKey } from './state.ts'
import { applyRate } from './tiers.ts'

/** The base of one line before its rate. */
interface Scope {
  readonly from: RuleOfVersion<CompiledShare>
  readonly scope: string
  readonly base: Decimal
  readonly fenced: Fenced | null
  readonly fx: Line['fx']
}

/**
 * Makes the lines of the share rules with an id: one for each version and scope.
 *
 * @param once The `once` lines of the plan in the period, which a share may recoup.
 */
export function settleShare(input: PlanInput, id: string, once: readonly Line[]): Line[] {
  const rules = rulesWith<CompiledShare>(input, 'share', id)
  const scopes = rules.flatMap((one) => scopesOf(input, one, once))
  const ruleBase = ratio(scopes.reduce((total, { base }) => add(total, base), ZERO))
  const measureOf = measuresOf(input, ruleBase)
  let before: Ratio = NOTHING
  const lines = scopes.map((scope) => {
    const earlier = earlierOf(input, scope.from.rule, scope.from.version)
    const line = lineOf(input, scope, measureOf, addRatio(earlier, before))
    before = addRatio(before, ratio(scope.base))
    return line
  })
  keepMeasure(input, id, ruleBase)
  return applyMax(lines.sort((a, b) => compareText(a.scope, b.scope)))
}

/** Returns the scopes of a rule that have facts, a carry, a deficit or a recouped CPA in the period. */
function scopesOf(
  input: PlanInput,
  from: RuleOfVersion<CompiledShare>,
  once: readonly Line[],
): Scope[] {
  if (from.rule.per === 'affiliate') return affiliateScope(input, from, once)
  const { tally, rule } = from
  const sums = rule.per === 'customer' ? tally?.tally.customers : tally?.tally.products
  const names = new Set(
    [...(sums ?? [])].filter(([, { facts }]) => facts > 0).map(([name]) => name),
  )
  if (rule.negative === 'carry') for (const name of carriedNames(input, from)) names.add(name)
  return [...names].sort(compareText).map((name) => ({
    from,
    scope: `${rule.per}:${name}`,
    base: sums?.get(name)?.base ?? ZERO,
    fenced: null,
    fx: fxList(tally?.tally.fx.get(name)),
  }))
}

/** Returns the customers or products with a carry. */
function carriedNames(
  { state }: PlanInput,
  { rule, version }: RuleOfVersion<CompiledShare>,
): string[] {
  const owner = stateKey(rule.id, version, '')
  return [...state.carries].flatMap(([key, carry]) => {
    const [id, ofVersion, scope] = JSON.parse(key)
    if (isZero(carry) || stateKey(id, { terms: 'signup', version: ofVersion }, '') !== owner)
      return []
    return String(scope).startsWith(`${rule.per}:`)
      ? [String(scope).slice(rule.per.length + 1)]
      : []
  })
}

function affiliateScope(
  input: PlanInput,
  from: RuleOfVersion<CompiledShare>,
  once: readonly Line[],
): Scope[] {
  const { rule, version, tally } = from
  const { state } = input
  const key = stateKey(rule.id, version, 'affiliate')
  const facts = tally?.tally.total.facts ?? 0
  const carries = rule.negative === 'carry' && !isZero(amountAt(state.carries, key))
  const hasCarryOrDeficit =
    carries || (rule.recoups !== null && !isZero(amountAt(state.deficits, key)))
  if (facts === 0 && !hasCarryOrDeficit && isZero(recoupedBy(rule, version, once))) return []
  const base = add(tally?.tally.total.base ?? ZERO, rule.base.fixed)
  const fenced = fenceBase(input, from, key, base)
  const fx = fxList(tally?.tally.fx.get(''))
  return [{ from, scope: 'affiliate', base: fenced?.base ?? base, fenced, fx }]
}

function fenceBase(
  { state }: PlanInput,
  { rule, tally }: RuleOfVersion<CompiledShare>,
  key: string,
  base: Decimal,
): Fenced | null {
  if (rule.fence === null) return null
  const customers = new Map(
    [...(tally?.tally.customers ?? [])].map(([customer, sums]) => [customer, sums.base]),
  )
  const fenced = applyFence(rule.fence, base, customers, state.fences.get(key) ?? new Map())
  state.fences.set(key, fenced.toPayBack)
  return fenced
}

/** Applies rate, rounding, `max_per_customer` and `negative` to one base, in this order (§16.17). */
function lineOf(
  input: PlanInput,
  scope: Scope,
  measureOf: ReturnType<typeof measuresOf>,
  before: Ratio,
): Line {
  const { rule, version } = scope.from
  const rated = applyRate(rule, ratio(scope.base), measureOf(version, rule), before)
  const { fenced } = scope
  const line = newLine({
    rule,
    version,
    scope: scope.scope,
    base: scope.base,
    measure: rated.measure,
    step: rated.step,
    rate: rated.rate,
    amount: roundRatio(rated.paid, version.digits),
    fence: fenced && { base: fenced.before, paidBack: fenced.paidBack, fenced: fenced.fenced },
    fx: scope.fx,
  })
  const limited = rule.per === 'customer' ? limitLine(line, rule.maxPerCustomer) : line
  return applyNegative(input, limited, rule)
}

/** Decides what becomes of a negative amount: it is booked, dropped or carried. */
function applyNegative({ state }: PlanInput, line: Line, rule: CompiledShare): Line {
  const { digits } = line.version
  if (rule.negative === 'offset') return line
  if (rule.negative === 'zero') {
    return isNegative(line.amount) ? { ...line, amount: round(ZERO, digits) } : line
  }
  const key = stateKey(rule.id, line.version, line.scope)
  const carriedIn = amountAt(state.carries, key)
  const balance = add(carriedIn, line.amount)
  const carriedOut = least(balance, ZERO)
  state.carries.set(key, carriedOut)
  return { ...line, carriedIn, carriedOut, amount: greatest(balance, ZERO) }
}

/** A fenced base: what customers paid back, and what they still have to pay back. */
interface Fenced {
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
