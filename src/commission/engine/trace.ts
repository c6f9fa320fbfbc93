import { type Decimal, plainText } from '../../platform/money/decimal.ts'
import { exactly, type Ratio, sumRatios } from '../../platform/money/ratio.ts'
import type { Step, StepOf } from '../shapes/steps.ts'

// Settling notes how a line comes about: what it counts, and what each modifier does to it when it is
// applied, in the order of §12 "Modifiers" and §16.17. A step is written when it is stored: most lines that are
// settled are not.

/** How a line comes about, up to its amount. A step that nothing is known of is null. */
export type Trace = (() => Step | null)[]

/** Writes the steps of a line. */
export const writeSteps = (trace: Trace): Step[] => trace.flatMap((write) => write() ?? [])

/** What the tiers measure, and the step that it reaches. */
export type MeasureStep = StepOf<'measure'>

type RateStep = StepOf<'rate'>

/** A part of a quantity, its rate, and what the rate makes of it. */
export interface RatedPart {
  readonly quantity: Ratio
  readonly rate: Decimal
  readonly paid: Ratio
}

/** Returns the step that pays parts of a quantity. */
export function rateStep(rateIs: RateStep['rate_is'], parts: readonly RatedPart[]): RateStep {
  const paid = exactly(sumRatios(parts.map((part) => part.paid)))
  return {
    step: 'rate',
    rate_is: rateIs,
    parts: parts.map((part) => ({
      quantity: exactly(part.quantity).text,
      rate: plainText(part.rate),
      amount: exactly(part.paid).text,
    })),
    amount: paid.text,
    rounded: !paid.isExact,
  }
}
