import { applyMax, cutLine, limitLine } from './cap.ts'
import { type Decimal, decimal, fromFact, plainText, ZERO } from './decimal.ts'
import { type Line, newLine } from './line.ts'
import { keepMeasure, measureOf } from './measure.ts'
import { compareRatio, multiplyRatio, type Ratio, ratio, ratioText, roundRatio } from './ratio.ts'
import type { CompiledOnce } from './rules.ts'
import { countOnce, type PlanInput, type Qualified } from './settle-plan.ts'
import { earlierMeasure } from './state.ts'
import { stepAt } from './tiers.ts'

const HUNDRED = decimal('100')
const integer = (count: number): Ratio => ratio({ units: BigInt(count), scale: 0 })

/** Makes the lines of the `once` rules with an id: one for each customer who qualified. */
export function settleOnce(input: PlanInput, id: string): Line[] {
  const own = integer(countOnce(input, id))
  const qualified = input.qualified.get(id) ?? []
  const lines = qualified.map((one) => lineOf(input, one, own))
  const rule = input.plan.versions.flatMap(({ rules }) => rules).findLast((one) => one.id === id)
  if (rule) keepMeasure(input, rule, own)
  return applyMax(lines)
}

function lineOf(input: PlanInput, one: Qualified, own: Ratio): Line {
  const { state, rule } = one
  const { version } = state
  const rated = rateOf(input, one, own)
  const line = newLine({
    rule,
    version,
    scope: `customer:${state.customerId}`,
    base: rule.rateIs === 'percent' ? (state.amount ?? ZERO) : null,
    measure: rated.measure,
    step: rated.step,
    rate: plainText(rated.rate),
    amount: roundRatio(clamp(paidBy(rule, state.amount, rated.rate), rule), version.digits),
    fx: rule.rateIs === 'percent' ? triggerFx(one) : [],
    once: state,
    beyondCount: one.beyondCount,
  })
  const limited = limitLine(line, rule.maxPerCustomer)
  return one.beyondCount ? cutLine(limited, limited.amount) : limited
}

function paidBy(rule: CompiledOnce, trigger: Decimal | null, rate: Decimal): Ratio {
  if (rule.rateIs === 'amount') return ratio(rate)
  return multiplyRatio(ratio(trigger ?? ZERO, HUNDRED), rate)
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
  const sent = fromFact(trigger.amounts.get(rule.trigger.field) ?? 0n)
  return currency === null ? [] : [{ currency, amount: sent, converted: amount }]
}

interface OnceRate {
  readonly measure: string | null
  readonly step: string | null
  readonly rate: Decimal
}

/** Under `slice` the k-th line has the step of k − 1; else the measure decides for all (§16.20). */
function rateOf(input: PlanInput, { rule, before, beyondCount }: Qualified, own: Ratio): OnceRate {
  const { tiers } = rule
  if (tiers === null) return { measure: null, step: null, rate: rule.rate ?? ZERO }
  const measure = tiers.mode === 'whole' ? measureOf(input, rule, own) : null
  const position = measure ?? sliceMeasure(input, rule, beyondCount ? before - 1 : before)
  const step = stepAt(tiers, position)
  return {
    measure: ratioText(position),
    step: step ? plainText(step.from) : null,
    rate: step?.rate ?? ZERO,
  }
}

function sliceMeasure({ state, context }: PlanInput, rule: CompiledOnce, before: number): Ratio {
  const window = rule.tiers?.window ?? 'period'
  const earlier = earlierMeasure(state, rule.id, window, context.period.last)
  return { num: addCount(earlier.num, Math.max(0, before)), den: earlier.den }
}

/** Counts are whole, so the ratio's divisor is 1. */
const addCount = (value: Decimal, count: number): Decimal => ({
  units: value.units + BigInt(count) * 10n ** BigInt(value.scale),
  scale: value.scale,
})
