import { type Decimal, isZero, plainText, ZERO } from '../../platform/money/decimal.ts'
import {
  addRatio,
  compareRatio,
  exactly,
  multiplyRatio,
  NOTHING,
  type Ratio,
  ratio,
  ratioText,
  subtractRatio,
  sumRatios,
} from '../../platform/money/ratio.ts'
import type { Part } from '../shapes/line-json.ts'
import type { CompiledRule, CompiledStep, CompiledTiers } from './rules.ts'
import { type MeasureStep, rateStep, type Trace } from './trace.ts'

/** What tiers measure: that of earlier periods in the window, of this one, and of affiliates below. */
export interface Measure {
  readonly earlier: Ratio
  readonly own: Ratio
  readonly network: Ratio
  readonly total: Ratio
}

/** By which rate a line is paid, and what the rate makes of it. */
export interface Rated {
  readonly measure: string | null
  readonly step: string | readonly Part[] | null
  readonly rate: string | null
  /** The amount before rounding. */
  readonly paid: Ratio
}

/** Returns what a rate makes of a quantity: a percentage of it, or an amount for each unit. */
export function payAt(rateIs: CompiledRule['rateIs'], quantity: Ratio, rate: Decimal): Ratio {
  const { num, den } = multiplyRatio(quantity, rate)
  return rateIs === 'percent' ? ratio({ ...num, scale: num.scale + 2 }, den) : ratio(num, den)
}

/** Returns the last step that the measure reaches, else the first. */
export const stepAt = ({ steps }: CompiledTiers, measure: Ratio): CompiledStep =>
  steps.findLast(({ from }) => compareRatio(measure, from) >= 0) ?? steps[0]

/**
 * Returns how much of the measure up to `until` lies in a step, which ends at the next. What lies below
 * 0 belongs to the first step, which starts at 0.
 */
function coveredIn(
  { from }: CompiledStep,
  next: CompiledStep | undefined,
  isFirst: boolean,
  until: Ratio,
): Ratio {
  if (!isFirst && compareRatio(until, from) <= 0) return NOTHING
  const end = next && compareRatio(until, next.from) > 0 ? ratio(next.from) : until
  return subtractRatio(end, ratio(from))
}

/**
 * Returns the step that measures.
 *
 * @param before What earlier lines and periods covered, which only slices look at.
 */
export const measureStep = (
  { mode, network, window, steps, source }: CompiledTiers,
  measure: Measure,
  before: Ratio,
): MeasureStep => ({
  step: 'measure',
  mode,
  by: source.by ?? null,
  over: network ? 'network' : 'own',
  window,
  earlier: exactly(measure.earlier).text,
  own: exactly(measure.own).text,
  network: exactly(measure.network).text,
  measure: ratioText(measure.total),
  steps: steps.map(({ from, rate }) => ({ from: plainText(from), rate: plainText(rate) })),
  covered: mode === 'slice' ? ratioText(before) : null,
})

/** What a rate applies to. */
export interface Priced {
  /** A base, or units divided by `each`. */
  readonly quantity: Ratio
  /** The tier measure of the rule, over all lines. */
  readonly measure: Measure
  /** Under `slice`: what the lines before this one covered. */
  readonly before: Ratio
}

/** A part of a quantity, and the step at which it is paid. */
type PricedPart = CompiledStep & Pick<Priced, 'quantity'>

/** Applies the rate of a rule, or its tiers. `trace` gets the steps. */
export function applyRate(
  { rate, rateIs, tiers }: Pick<CompiledRule, 'rate' | 'rateIs' | 'tiers'>,
  priced: Priced,
  trace: Trace,
): Rated {
  const { quantity, measure, before } = priced
  if (tiers) trace.push(() => measureStep(tiers, measure, before))
  const step = tiers ? stepAt(tiers, measure.total) : { from: ZERO, rate }
  const isSlice = tiers?.mode === 'slice'
  const parts = (isSlice ? slicesOf(tiers, priced) : [{ ...step, quantity }]).map((part) => ({
    ...part,
    paid: payAt(rateIs, part.quantity, part.rate),
  }))
  trace.push(() => rateStep(rateIs, parts))
  return {
    measure: tiers && ratioText(measure.total),
    step: isSlice ? parts.map(writePart) : tiers && plainText(step.from),
    rate: isSlice ? null : plainText(step.rate),
    paid: sumRatios(parts.map(({ paid }) => paid)),
  }
}

const writePart = ({ from, quantity, rate }: PricedPart): Part => ({
  from: plainText(from),
  part: ratioText(quantity),
  rate: plainText(rate),
})

/** Returns the part of a quantity in each step that has one. */
function slicesOf({ steps }: CompiledTiers, { quantity, before }: Priced): PricedPart[] {
  const until = addRatio(before, quantity)
  return steps.flatMap((step, index) => {
    const covered = (end: Ratio): Ratio => coveredIn(step, steps[index + 1], index === 0, end)
    const part = subtractRatio(covered(until), covered(before))
    return isZero(part.num) ? [] : [{ ...step, quantity: part }]
  })
}
