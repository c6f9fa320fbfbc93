import { applyAdvance } from './advance.ts'
import { applyMax, cutLine, limitLine } from './cap.ts'
import { add, type Decimal, fromFact, integer, ONE, plainText, ZERO } from './decimal.ts'
import { amountOf, compareText } from './facts.ts'
import { type Line, newLine } from './line.ts'
import { earlierOf, keepMeasure, measureOf, measuresOf, quantityOf } from './measure.ts'
import type { Plan } from './plans-in-force.ts'
import {
  addRatio,
  compareRatio,
  NOTHING,
  type Ratio,
  ratio,
  ratioText,
  roundRatio,
  sumRatios,
} from './ratio.ts'
import { type HoldReason, rankOf } from './reasons.ts'
import type { CompiledOnce, CompiledUnitRule } from './rules.ts'
import {
  countOnce,
  type PlanInput,
  type Qualified,
  ruleOrder,
  rulePositions,
  rulesWith,
} from './settle-plan.ts'
import { settleShare } from './settle-share.ts'
import { applyRate, payAt, stepAt } from './tiers.ts'

/** Facts or lines of a rule that wait, as a statement lists them. */
export interface StatementHold {
  readonly rule: string
  readonly version: number
  readonly reason: HoldReason
  readonly currency: string | null
  readonly count: number
  readonly sum: Decimal
}

/**
 * Makes the lines of one affiliate, plan and period from its facts: all rules but overrides. It changes
 * the carries, deficits and measures of the input's state.
 */
export function settlePlan(input: PlanInput): Line[] {
  const order = ruleOrder(input.plan)
  const once = order.flatMap(({ id, kinds }) => (kinds.has('once') ? settleOnce(input, id) : []))
  return order.flatMap(({ id, kinds }) => {
    const lines = [
      ...once.filter(({ rule }) => rule.id === id),
      ...(kinds.has('share') ? settleShare(input, id, once) : []),
      ...(kinds.has('unit') ? settleUnit(input, id) : []),
    ]
    return inOrder(lines).map((line) => applyAdvance(input, line, once))
  })
}

/** Orders the lines of a rule by version, then scope. */
export const inOrder = (lines: readonly Line[]): Line[] =>
  [...lines].sort((a, b) => a.version.version - b.version.version || compareText(a.scope, b.scope))

/** Lists what the rules of a plan wait for in the period, and the measures of those with a line. */
export function holdsOf(
  { plan, tallies }: Pick<PlanInput, 'plan' | 'tallies'>,
  lines: readonly Line[],
): StatementHold[] {
  const measures = [...tallies.measureHolds].filter(([rule]) =>
    lines.some((line) => line.rule === rule),
  )
  const found = [...tallies.holds, ...measures].flatMap(([rule, { version, byReason }]) =>
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
  const counted = rules.flatMap(({ version, rule, tally }) =>
    tally && tally.tally.total.facts > 0
      ? [{ version, rule, total: tally.tally.total, quantity: quantityOf(rule, tally) }]
      : [],
  )
  const own = sumRatios(counted.map(({ quantity }) => quantity))
  let before: Ratio = NOTHING
  const lines = counted.map(({ version, rule, total, quantity }) => {
    const start = addRatio(earlierOf(input, rule, version), before)
    const rated = applyRate(rule, quantity, measureOf(input, version, rule, own), start)
    before = addRatio(before, quantity)
    return newLine({
      rule,
      version,
      scope: 'affiliate',
      units: total.units,
      measure: rated.measure,
      step: rated.step,
      rate: rated.rate,
      amount: roundRatio(rated.paid, version.digits),
    })
  })
  keepMeasure(input, id, own)
  return applyMax(lines)
}

type MeasureOf = ReturnType<typeof measuresOf>

/** Makes the lines of the `once` rules with an id: one for each customer who qualified. */
export function settleOnce(input: PlanInput, id: string): Line[] {
  const own = ratio(integer(countOnce(input, id)))
  const measureOf = measuresOf(input, own)
  const qualified = input.qualified.get(id) ?? []
  const lines = qualified.map((one) => lineOf(input, one, measureOf))
  keepMeasure(input, id, own)
  return applyMax(lines)
}

function lineOf(input: PlanInput, one: Qualified, measureOf: MeasureOf): Line {
  const { state, rule } = one
  const { version } = state
  const rated = rateOf(input, one, measureOf)
  const line = newLine({
    rule,
    version,
    scope: `customer:${state.customerId}`,
    base: rule.rateIs === 'percent' ? (state.amount ?? ZERO) : null,
    measure: rated.measure,
    step: rated.step,
    rate: rated.text,
    amount: roundRatio(clamp(paidBy(rule, state.amount, rated.rate), rule), version.digits),
    fx: rule.rateIs === 'percent' ? triggerFx(one) : [],
    once: state,
    beyondCount: one.beyondCount,
  })
  const limited = limitLine(line, rule.maxPerCustomer)
  return one.beyondCount ? cutLine(limited, limited.amount) : limited
}

function paidBy(rule: CompiledOnce, trigger: Decimal | null, rate: Decimal): Ratio {
  return payAt(rule.rateIs, ratio(rule.rateIs === 'amount' ? ONE : (trigger ?? ZERO)), rate)
}

/** Applies `min_amount` and `max_amount`. */
function clamp(paid: Ratio, { minAmount, maxAmount }: CompiledOnce): Ratio {
  if (minAmount !== null && compareRatio(paid, minAmount) < 0) return ratio(minAmount)
  if (maxAmount !== null && compareRatio(paid, maxAmount) > 0) return ratio(maxAmount)
  return paid
}

/** The trigger's amount as sent, and converted. */
function triggerFx({ state, rule }: Qualified): Line['fx'] {
  const { trigger, amount } = state
  if (trigger === null || rule.trigger === null || amount === null) return []
  const currency = rule.trigger.currencyOf(trigger)
  const sent = fromFact(amountOf(trigger, rule.trigger.field))
  return currency === null ? [] : [{ currency, amount: sent, converted: amount }]
}

interface OnceRate {
  readonly measure: string | null
  readonly step: Line['step']
  readonly text: string | null
  readonly rate: Decimal
}

/**
 * Returns the rate of a CPA. Under `slice` the k-th CPA is paid at the step that k − 1 CPAs reach; else the
 * measure decides for all (§16.20).
 */
function rateOf(input: PlanInput, one: Qualified, measureOf: MeasureOf): OnceRate {
  const { rule, state } = one
  const { tiers } = rule
  if (tiers === null) {
    const { rate } = rule
    return { measure: null, step: null, text: plainText(rate), rate }
  }
  const measure = measureOf(state.version, rule)
  const isSlice = tiers.mode === 'slice'
  const { from: start, rate } = stepAt(tiers, isSlice ? positionOf(input, one) : measure)
  const from = plainText(start)
  const text = plainText(rate)
  return {
    measure: ratioText(measure),
    step: isSlice ? [{ from, part: '1', rate: text }] : from,
    text: isSlice ? null : text,
    rate,
  }
}

/** Returns how many lines come before, those of earlier periods of the window included. */
function positionOf(input: PlanInput, { rule, state, before, beyondCount }: Qualified): Ratio {
  const position = Math.max(0, beyondCount ? before - 1 : before)
  return addRatio(earlierOf(input, rule, state.version), ratio(integer(position)))
}
