import type {
  BaseStep,
  ConversionStep,
  FactsStep,
  FundedStep,
  QualificationStep,
  SourcesStep,
  TriggerStep,
  UnitsStep,
} from './explanation-facts.ts'
import type { LineJson } from './line.ts'

/** How a line came about: every step in the order in which it was applied (§14). */
export interface Explanation {
  readonly affiliate_id: string
  readonly plan: string
  readonly period: string
  readonly currency: string
  readonly line: LineJson
  readonly steps: readonly Step[]
  /** What the stored statement says, if records have changed since and the amount is another one. */
  readonly stored?: { readonly amount: string; readonly computed_at: string }
  /** What was approved, if the period is closed. */
  readonly closed?: ClosedLine
}

/** What was approved of a line of a closed period. */
export interface ClosedLine {
  readonly statement: string
  /** Null: no approved statement has the line. */
  readonly amount: string | null
  /** Corrections of the line in later statements. */
  readonly adjustments: readonly Correction[]
}

/** A correction of a line, in the statement of a later period. */
export interface Correction {
  readonly id: string
  readonly statement: string
  readonly period: string
  readonly status: 'draft' | 'approved' | 'paid'
  readonly amount: string
}

/** A step of an explanation. All figures are decimal text. */
export type Step =
  | FactsStep
  | ConversionStep
  | BaseStep
  | UnitsStep
  | TriggerStep
  | QualificationStep
  | SourcesStep
  | FundedStep
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
  | AmountStep

/** A negative sum of an affiliate below counts 0 (§16.25). */
export interface FloorStep {
  readonly step: 'floor'
  readonly before: string
  readonly after: string
}

/** Losses of single customers that are kept out of the base: `base` = `before` − `paid_back` + `fenced`. */
export interface FenceStep {
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
export interface ClampStep {
  readonly step: 'clamp'
  readonly min_amount: string | null
  readonly max_amount: string | null
  readonly before: string
  readonly after: string
}

/** Rounding to the minor unit, half to even. */
export interface RoundingStep {
  readonly step: 'rounding'
  readonly digits: number
  readonly before: string
  readonly after: string
}

/** The maximum amount that a rule pays for one customer. */
export interface MaxPerCustomerStep {
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
export interface MaxCountStep {
  readonly step: 'max_count'
  readonly max_count: number
  /** The position of the qualification in the period, from 1. */
  readonly position: number
  readonly before: string
  readonly capped: string
  readonly after: string
}

/** The maximum amount that a rule pays an affiliate in a period. */
export interface MaxStep {
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

/** What the line pays. */
export interface AmountStep {
  readonly step: 'amount'
  readonly amount: string
}
