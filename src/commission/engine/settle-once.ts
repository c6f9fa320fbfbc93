import { applyMax, cutLine, limitLine } from './cap.ts'
import { type Decimal, fromFact, integer, ONE, plainText, ZERO } from './decimal.ts'
import { amountOf } from './facts.ts'
import { type Line, newLine } from './line.ts'
import { earlierOf, keepMeasure, measuresOf } from './measure.ts'
import { addRatio, compareRatio, type Ratio, ratio, ratioText, roundRatio } from './ratio.ts'
import type { CompiledOnce } from './rules.ts'
import { countOnce, type PlanInput, type Qualified } from './settle-plan.ts'
import { payAt, stepAt } from './tiers.ts'

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
