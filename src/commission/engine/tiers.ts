import { compare, type Decimal, isZero, plainText } from './decimal.ts'
import {
  addRatio,
  compareRatio,
  multiplyRatio,
  NOTHING,
  type Ratio,
  ratio,
  ratioText,
  subtractRatio,
  sumRatios,
} from './ratio.ts'
import type { CompiledRule, CompiledTiers } from './rules.ts'

/** A part of a measure and the step at which it is paid. */
export interface Part {
  readonly from: string
  readonly part: string
  readonly rate: string
}

/** By which rate a line is paid, and what the rate makes of it. */
export interface Rated {
  readonly measure: string | null
  readonly step: string | readonly Part[] | null
  readonly rate: string | null
  /** The amount before rounding. A percentage is not divided by 100 yet. */
  readonly paid: Ratio
}

type Step = CompiledTiers['steps'][number]

/** Returns the last step that the measure reaches, else the first. */
export function stepAt({ steps }: CompiledTiers, measure: Ratio): Step | undefined {
  return steps.findLast(({ from }) => compareRatio(measure, from) >= 0) ?? steps[0]
}

/**
 * Returns how much of the measure up to `until` lies in each step. What lies below 0 belongs to the
 * first step.
 */
function partsUpTo(steps: readonly Step[], until: Ratio): Ratio[] {
  return steps.map(({ from }, index) => {
    const next = steps[index + 1]?.from
    if (index > 0 && compareRatio(until, from) <= 0) return NOTHING
    const end = next && compareRatio(until, next) > 0 ? ratio(next) : until
    return index === 0 ? end : subtractRatio(end, ratio(from))
  })
}

/**
 * Applies the rate of a rule, or its tiers, to a quantity: a base, or units divided by `each`.
 *
 * @param measure The tier measure of the rule, over all lines.
 * @param before Under `slice`: what the lines before this one covered.
 */
export function applyRate(
  rule: Pick<CompiledRule, 'rate' | 'tiers'>,
  quantity: Ratio,
  measure: Ratio,
  before: Ratio,
): Rated {
  const { tiers } = rule
  if (tiers === null) {
    const rate = rule.rate ?? { units: 0n, scale: 0 }
    const paid = multiplyRatio(quantity, rate)
    return { measure: null, step: null, rate: plainText(rate), paid }
  }
  if (tiers.mode === 'slice') return applySlices(tiers.steps, quantity, measure, before)
  const step = stepAt(tiers, measure)
  const rate = step?.rate ?? { units: 0n, scale: 0 }
  return {
    measure: ratioText(measure),
    step: step ? plainText(step.from) : null,
    rate: plainText(rate),
    paid: multiplyRatio(quantity, rate),
  }
}

function applySlices(
  steps: readonly Step[],
  quantity: Ratio,
  measure: Ratio,
  before: Ratio,
): Rated {
  const start = partsUpTo(steps, before)
  const parts = partsUpTo(steps, addRatio(before, quantity)).map((end, index) =>
    subtractRatio(end, start[index] ?? NOTHING),
  )
  const step = steps.flatMap(({ from, rate }, index) => {
    const part = parts[index] ?? NOTHING
    if (isZero(part.num)) return []
    return [{ from: plainText(from), part: ratioText(part), rate: plainText(rate) }]
  })
  const paid = sumRatios(
    steps.map(({ rate }, index) => multiplyRatio(parts[index] ?? NOTHING, rate)),
  )
  return { measure: ratioText(measure), step, rate: null, paid }
}

/** What a cap leaves of an amount, and what it takes. */
export interface Capped {
  readonly amount: Decimal
  readonly capped: Decimal
}

/** Limits an amount. */
export function limit(amount: Decimal, most: Decimal | null): Capped {
  if (most === null || compare(amount, most) <= 0)
    return { amount, capped: { units: 0n, scale: 0 } }
  const capped = {
    units: amount.units * 10n ** BigInt(most.scale) - most.units * 10n ** BigInt(amount.scale),
    scale: amount.scale + most.scale,
  }
  return { amount: most, capped }
}
