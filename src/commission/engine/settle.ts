import { compareText } from '../../platform/compare-text.ts'
import {
  add,
  amountAt,
  type Decimal,
  fromFact,
  integer,
  isZero,
  ONE,
  plainText,
  ZERO,
} from '../../platform/money/decimal.ts'
import {
  addRatio,
  NOTHING,
  type Ratio,
  ratio,
  ratioText,
  sumRatios,
} from '../../platform/money/ratio.ts'
import { recoupedBy } from '../plans/modifiers/advance.ts'
import { clampPaid } from '../plans/modifiers/clamp.ts'
import { type Fenced, fenceBase } from '../plans/modifiers/fence.ts'
import { stateKey } from '../plans/modifiers/modifier.ts'
import { modify } from '../plans/modifiers/order.ts'
import { rankOf } from '../shapes/reasons.ts'
import { amountOf } from './facts.ts'
import { fxList, type Line, newLine, rateLine, rounded, type StatementHold } from './line.ts'
import { keepMeasure, measuredBy, measuresOf, type OwnMeasure, quantityOf } from './measure.ts'
import { triggerStep } from './once-steps.ts'
import type { Plan } from './plans-in-force.ts'
import type { CompiledShare, CompiledUnitRule } from './rules.ts'
import {
  countOnce,
  type PlanInput,
  type Qualified,
  type RuleOfVersion,
  ruleOrder,
  rulePositions,
  rulesWith,
} from './settle-plan.ts'
import { baseStep, unitsStep } from './steps.ts'
import { factsOf, fxOf } from './sums.ts'
import { type Measure, measureStep, payAt, type Rated, stepAt } from './tiers.ts'
import { rateStep, type Trace } from './trace.ts'

/**
 * Makes the lines of one affiliate, plan and period from its facts: all rules but overrides. It changes
 * the carries, deficits and measures of the input's state.
 */
export function settlePlan(input: PlanInput): Line[] {
  const order = ruleOrder(input.plan)
  const once = order.flatMap(({ id, kinds }) => (kinds.has('once') ? settleOnce(input, id) : []))
  return order.flatMap(({ id, kinds }) => {
    return inOrder([
      ...once.filter(({ rule }) => rule.id === id),
      ...(kinds.has('share') ? settleShare(input, id, once) : []),
      ...(kinds.has('unit') ? settleUnit(input, id) : []),
    ])
  })
}

/** Orders the lines of a rule by version, then scope. */
export const inOrder = (lines: readonly Line[]): Line[] =>
  [...lines].sort((a, b) => a.version.version - b.version.version || compareText(a.scope, b.scope))

/** Lists what the rules of a plan wait for in the period, and the measures of those with a line. */
export function holdsOf(
  { plan, sums }: Pick<PlanInput, 'plan' | 'sums'>,
  lines: readonly Line[],
): StatementHold[] {
  const measures = [...sums.measureHolds].filter(([rule]) =>
    lines.some((line) => line.rule === rule),
  )
  const found = [...sums.holds, ...measures].flatMap(([rule, { version, byReason }]) =>
    version.plan === plan.plan
      ? [...byReason.values()].map((hold) => ({
          rule: rule.id,
          version: version.version,
          ...hold,
        }))
      : [],
  )
  return mergeHolds(plan, found)
}

/** Adds up holds of one rule, version, reason and currency, in the order of the plan's rules. */
export function mergeHolds(plan: Plan, holds: readonly StatementHold[]): StatementHold[] {
  const merged = new Map<string, StatementHold>()
  for (const hold of holds) {
    const { rule, version, reason, currency } = hold
    const key = JSON.stringify([rule, version, reason, currency])
    const known = merged.get(key)
    merged.set(key, known ? addHolds(known, hold) : hold)
  }
  const positionOf = rulePositions(plan)
  return [...merged.values()].sort(
    (a, b) =>
      positionOf(a.rule) - positionOf(b.rule) ||
      compareText(a.rule, b.rule) ||
      a.version - b.version ||
      rankOf(a.reason) - rankOf(b.reason) ||
      compareText(String(a.currency), String(b.currency)),
  )
}

const addHolds = (a: StatementHold, b: StatementHold): StatementHold => ({
  ...a,
  count: a.count + b.count,
  sum: add(a.sum, b.sum),
})

/** Makes the lines of the unit rules with an id: one for each version with facts. */
function settleUnit(input: PlanInput, id: string): Line[] {
  const rules = rulesWith<CompiledUnitRule>(input, 'unit', id)
  const counted = rules.flatMap(({ version, rule, sums }) =>
    sums && sums.total.facts > 0
      ? [{ version, rule, sums, total: sums.total, quantity: quantityOf(rule, sums) }]
      : [],
  )
  const own: OwnMeasure = (rule) => sumRatios(counted.map((one) => measuredBy(rule, one)))
  const measureOf = measuresOf(input, own)
  const lines = counted.map(({ version, rule, sums, total, quantity }, index) => {
    const measure = measureOf(version, rule)
    const earlier = counted.slice(0, index).map((one) => measuredBy(rule, one))
    const before = sumRatios([measure.earlier, ...earlier])
    const { units } = total
    const trace: Trace = [() => unitsStep(rule.unit.source, factsOf(sums, ''), units, rule.each)]
    const head = { rule, version, scope: 'affiliate', trace, units }
    return rateLine(head, { quantity, measure, before })
  })
  keepMeasure(input, 'unit', id, own)
  return modify(lines, 'unit', { state: input.state, once: [] })
}

type MeasureOf = ReturnType<typeof measuresOf>

/** Makes the lines of the `once` rules with an id: one for each customer who qualified. */
export function settleOnce(input: PlanInput, id: string): Line[] {
  const own = (): Ratio => ratio(integer(countOnce(input, id)))
  const measureOf = measuresOf(input, own)
  const qualified = input.qualified.get(id) ?? []
  const lines = qualified.map((one) => lineOf(input, one, measureOf))
  keepMeasure(input, 'once', id, own)
  return modify(lines, 'once', { state: input.state, once: [] })
}

function lineOf(input: PlanInput, one: Qualified, measureOf: MeasureOf): Line {
  const { state, rule } = one
  const { version } = state
  const isPercent = rule.rateIs === 'percent'
  const trace: Trace = [() => triggerStep(input.account, state), state.evidence]
  const { price, ...rated } = rateOf(one, measureOf, trace)
  const quantity = ratio(isPercent ? (state.amount ?? ZERO) : ONE)
  const paid = payAt(rule.rateIs, quantity, price)
  trace.push(() => rateStep(rule.rateIs, [{ quantity, rate: price, paid }]))
  const clamped = clampPaid(paid, rule.source, trace)
  return newLine({
    rule,
    version,
    scope: `customer:${state.customerId}`,
    trace,
    ...rated,
    base: isPercent ? (state.amount ?? ZERO) : null,
    amount: rounded(clamped, version, trace),
    fx: isPercent ? triggerFx(one) : [],
    once: state,
    counted: one,
  })
}

/** The trigger's amount as sent, and converted. */
function triggerFx({ state, rule }: Qualified): Line['fx'] {
  const { trigger, amount } = state
  if (trigger === null || rule.trigger === null || amount === null) return []
  const currency = rule.trigger.currencyOf(trigger)
  const sent = fromFact(amountOf(trigger, rule.trigger.field))
  return currency === null ? [] : [{ currency, amount: sent, converted: amount }]
}

/**
 * Returns the rate of a CPA, as its line has it and as it is paid. Under `slice` the k-th CPA is paid at the step that
 * k − 1 CPAs reach; else the measure decides for all (§16.20).
 */
function rateOf(
  one: Qualified,
  measureOf: MeasureOf,
  trace: Trace,
): Omit<Rated, 'paid'> & { readonly price: Decimal } {
  const { rule, state } = one
  const { tiers } = rule
  if (tiers === null) {
    return { measure: null, step: null, rate: plainText(rule.rate), price: rule.rate }
  }
  const measure = measureOf(state.version, rule)
  const isSlice = tiers.mode === 'slice'
  const before = isSlice ? positionOf(measure, one) : NOTHING
  trace.push(() => measureStep(tiers, measure, before))
  const { from: start, rate: price } = stepAt(tiers, isSlice ? before : measure.total)
  const from = plainText(start)
  const text = plainText(price)
  return {
    measure: ratioText(measure.total),
    step: isSlice ? [{ from, part: '1', rate: text }] : from,
    rate: isSlice ? null : text,
    price,
  }
}

/** Returns how many lines come before, those of earlier periods of the window included. */
const positionOf = ({ earlier }: Measure, { before, beyondCount }: Qualified): Ratio =>
  addRatio(earlier, ratio(integer(Math.max(0, beyondCount ? before - 1 : before))))

/** The base of one line before its rate. */
interface Scope {
  readonly from: RuleOfVersion<CompiledShare>
  readonly scope: string
  readonly base: Decimal
  readonly fenced: Fenced | null
  readonly fx: Line['fx']
  readonly trace: Trace
}

/**
 * Makes the lines of the share rules with an id: one for each version and scope.
 *
 * @param once The `once` lines of the plan in the period, which a share may recoup.
 */
function settleShare(input: PlanInput, id: string, once: readonly Line[]): Line[] {
  const rules = rulesWith<CompiledShare>(input, 'share', id)
  const scopes = rules.flatMap((one) => scopesOf(input, one, once))
  const ruleBase = ratio(scopes.reduce((total, { base }) => add(total, base), ZERO))
  const measureOf = measuresOf(input, () => ruleBase)
  let before: Ratio = NOTHING
  const lines = scopes.map((scope) => {
    const { rule, version } = scope.from
    const { base, fenced: fence, fx, trace } = scope
    const [quantity, measure] = [ratio(base), measureOf(version, rule)]
    const head = { rule, version, scope: scope.scope, trace, base, fence, fx }
    const line = rateLine(head, { quantity, measure, before: addRatio(measure.earlier, before) })
    before = addRatio(before, quantity)
    return line
  })
  keepMeasure(input, 'share', id, () => ruleBase)
  const sorted = lines.sort((a, b) => compareText(a.scope, b.scope))
  return modify(sorted, 'share', { state: input.state, once })
}

/** Returns the scopes of a rule that have facts, a carry, a deficit or a recouped CPA in the period. */
function scopesOf(
  input: PlanInput,
  from: RuleOfVersion<CompiledShare>,
  once: readonly Line[],
): Scope[] {
  if (from.rule.per === 'affiliate') return affiliateScope(input, from, once)
  const { rule } = from
  const sums = rule.per === 'customer' ? from.sums?.customers : from.sums?.products
  const names = new Set(
    [...(sums ?? [])].filter(([, { facts }]) => facts > 0).map(([name]) => name),
  )
  if (rule.source.negative === 'carry')
    for (const name of carriedNames(input, from)) names.add(name)
  return [...names].sort(compareText).map((name) => {
    return {
      from,
      scope: `${rule.per}:${name}`,
      base: sums?.get(name)?.base ?? ZERO,
      fenced: null,
      ...countedIn(input, from, name),
    }
  })
}

/** Returns what the facts of a scope come to by currency, and the step that sums them. */
function countedIn(
  { account }: PlanInput,
  { rule: { base, per }, version, sums }: RuleOfVersion<CompiledShare>,
  name: string,
): Pick<Scope, 'fx' | 'trace'> {
  const facts = factsOf(sums, name)
  const counted = { base, to: version.currency, withFixed: per === 'affiliate' }
  return {
    fx: fxList(fxOf(facts)),
    trace: [() => baseStep(account, counted, facts)],
  }
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
  const { rule, version, sums } = from
  const { state } = input
  const { recoups } = rule.source
  const key = stateKey(rule.id, version, 'affiliate')
  const facts = sums?.total.facts ?? 0
  const carries = rule.source.negative === 'carry' && !isZero(amountAt(state.carries, key))
  const hasCarryOrDeficit =
    carries || (recoups !== undefined && !isZero(amountAt(state.deficits, key)))
  if (facts === 0 && !hasCarryOrDeficit && isZero(recoupedBy(recoups, version, once))) return []
  const base = add(sums?.total.base ?? ZERO, rule.base.fixed)
  const counted = countedIn(input, from, '')
  const fenced = fenceScope(input, from, base, counted.trace)
  return [{ from, scope: 'affiliate', base: fenced?.base ?? base, fenced, ...counted }]
}

function fenceScope(
  { state }: PlanInput,
  { rule, version, sums }: RuleOfVersion<CompiledShare>,
  base: Decimal,
  trace: Trace,
): Fenced | null {
  const { fence } = rule.source
  if (fence === undefined) return null
  const key = stateKey(rule.id, version, 'affiliate')
  const customers = new Map(
    [...(sums?.customers ?? [])].map(([customer, { base: own }]) => [customer, own]),
  )
  const fenced = fenceBase(fence, base, customers, state.fences.get(key) ?? new Map(), trace)
  state.fences.set(key, fenced.toPayBack)
  return fenced
}
