import { type Decimal, fixedText, plainText } from './decimal.ts'
import type { Version } from './plans-in-force.ts'
import { type Ratio, ratio, ratioText, roundRatio, subtractRatio, sumRatios } from './ratio.ts'

// Settling notes what it does to a line that is explained: each modifier adds its own step when it is
// applied, in the order of §12 "Modifiers" and §16.17. A line that is not explained has no trace, and costs
// nothing.

/** What settling did to the base or the units of a line's facts, up to its amount. */
export type Trace = SettlingStep[]

/** A step that settling applies to a line. All figures are decimal text. */
export type SettlingStep =
  | FloorStep
  | FenceStep
  | MeasureStep
  | RateStep
  | ClampStep
  | RoundingStep
  | MaxPerCustomerStep
  | NegativeStep
  | MaxCountStep
  | MaxStep
  | AdvanceStep

/** A negative sum of an affiliate below counts 0 (§16.25). */
interface FloorStep {
  readonly step: 'floor'
  readonly before: string
  readonly after: string
}

/** Losses of single customers that are kept out of the base: `base` = `before` − `paid_back` + `fenced`. */
interface FenceStep {
  readonly step: 'fence'
  readonly customer: string
  readonly affiliate: string
  readonly before: string
  readonly paid_back: string
  readonly fenced: string
  /** The base after the fence. `fence.base` of the line is the one before. */
  readonly base: string
}

/** What the tiers measure, and the step that it reaches: `earlier` + `own` + `network`. */
export interface MeasureStep {
  readonly step: 'measure'
  readonly mode: 'whole' | 'slice'
  /** `tiers.by` as the plan has it; null for the rule's own base, units or number of lines. */
  readonly by: unknown
  readonly over: 'own' | 'network'
  readonly window: 'period' | 'quarter' | 'lifetime'
  readonly earlier: string
  readonly own: string
  readonly network: string
  readonly measure: string
  readonly steps: readonly { readonly from: string; readonly rate: string }[]
  /** Under `slice`: how much of the measure other lines and periods cover before this line. */
  readonly covered: string | null
}

/** What the rate makes of the quantity, before rounding. */
export interface RateStep {
  readonly step: 'rate'
  readonly rate_is: 'percent' | 'amount'
  readonly parts: readonly {
    readonly quantity: string
    readonly rate: string
    readonly amount: string
  }[]
  readonly amount: string
  /** Whether the amount has more digits than are written. */
  readonly rounded: boolean
}

/** The bounds of a `once` rule's amount. */
interface ClampStep {
  readonly step: 'clamp'
  readonly min_amount: string | null
  readonly max_amount: string | null
  readonly before: string
  readonly after: string
}

/** Rounding to the minor unit, half to even. */
interface RoundingStep {
  readonly step: 'rounding'
  readonly digits: number
  readonly before: string
  readonly after: string
}

/** The maximum amount that a rule pays for one customer. */
interface MaxPerCustomerStep {
  readonly step: 'max_per_customer'
  readonly max: string
  readonly before: string
  readonly capped: string
  readonly after: string
}

/** What becomes of a negative amount. `carry`: `before` + `carried_in` = `after` + `carried_out`. */
export interface NegativeStep {
  readonly step: 'negative'
  readonly negative: 'zero' | 'carry'
  readonly before: string
  readonly carried_in: string
  readonly carried_out: string
  readonly after: string
}

/** The maximum number of customers that a rule pays for in a period. */
interface MaxCountStep {
  readonly step: 'max_count'
  readonly max_count: number
  /** The position of the qualification in the period, from 1. */
  readonly position: number
  readonly before: string
  readonly capped: string
  readonly after: string
}

/** The maximum amount that a rule pays an affiliate in a period. */
interface MaxStep {
  readonly step: 'max'
  readonly max: string
  readonly before: string
  readonly capped: string
  readonly after: string
}

/** `once` payments that a share recoups: `after` = max(0, `before` − `paid_once` − `deficit_in`). */
export interface AdvanceStep {
  readonly step: 'advance'
  readonly recoups: string
  readonly before: string
  readonly paid_once: string
  readonly deficit_in: string
  readonly recouped: string
  readonly deficit_out: string
  readonly after: string
}

/** Writes an amount with the minor digits of a plan's currency. */
export const moneyText = ({ digits }: Version, amount: Decimal): string => fixedText(amount, digits)

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

/** The places with which an amount is written before it is rounded. */
const EXACT_PLACES = 40

/** Writes a ratio with all its digits, or with 12 places if they do not end. */
export function exactly(value: Ratio): { text: string; isExact: boolean } {
  const written = roundRatio(value, EXACT_PLACES)
  const rest = subtractRatio(value, ratio(written)).num
  return rest.units === 0n
    ? { text: plainText(written), isExact: true }
    : { text: ratioText(value), isExact: false }
}
