import type { ConditionCheck } from './conditions.ts'
import type { Decimal } from './decimal.ts'
import type { Conditions } from './plan.ts'
import type { CompiledBase, CompiledTerm, CompiledUnit, FactKind } from './terms.ts'

/** A rule of one version, ready to be applied. */
export type CompiledRule = CompiledOnce | CompiledShare | CompiledUnitRule | CompiledOverride

/** What every compiled rule has. */
export interface RuleBase {
  readonly id: string
  readonly when: ConditionCheck
  readonly months: number | null
  /** The percentage or the amount that is paid without tiers; 0 with tiers. */
  readonly rate: Decimal
  readonly rateIs: 'percent' | 'amount'
  readonly tiers: CompiledTiers | null
  readonly max: Decimal | null
}

/** Tiers in place of a percentage or an amount. */
export interface CompiledTiers {
  readonly mode: 'whole' | 'slice'
  readonly by: { readonly once: string } | 'active' | CompiledBase | null
  readonly network: boolean
  readonly window: 'period' | 'quarter' | 'lifetime'
  /** In order of `from`. The first also applies below its `from`. */
  readonly steps: readonly [CompiledStep, ...CompiledStep[]]
}

/** A step of tiers: the measure from which it applies, and its rate. */
export interface CompiledStep {
  readonly from: Decimal
  readonly rate: Decimal
}

/** A rule that pays once for a customer. */
export interface CompiledOnce extends RuleBase {
  readonly kind: 'once'
  /** The facts that trigger it; null for the signup. */
  readonly trigger: FactKind | null
  readonly min: Decimal | null
  readonly minAmount: Decimal | null
  readonly maxAmount: Decimal | null
  /** Whether the amount of the trigger must be converted. */
  readonly needsAmount: boolean
  readonly qualify: readonly CompiledQualification[]
  /** How long before the signup facts count for the trigger and `qualify`, in milliseconds. */
  readonly grace: number
  readonly requalify: boolean
  readonly voidBy: { readonly terms: readonly CompiledTerm[]; readonly withinDays: number } | null
  readonly maxCount: number | null
  readonly maxPerCustomer: Decimal | null
}

/** A condition of `qualify`; a sum is converted, a count is not. */
export type CompiledQualification =
  | {
      readonly kind: 'sum' | 'count'
      readonly terms: readonly CompiledTerm[]
      readonly min: Decimal
      readonly withinDays: number | null
      readonly atEnd: boolean
    }
  | { readonly kind: 'customer'; readonly conditions: ConditionCheck; readonly source: Conditions }

/** A rule that pays a percentage of a base. */
export interface CompiledShare extends RuleBase {
  readonly kind: 'share'
  readonly base: CompiledBase
  readonly per: 'affiliate' | 'customer' | 'product'
  readonly negative: 'offset' | 'zero' | 'carry'
  readonly fence: { readonly customer: Decimal; readonly affiliate: Decimal } | null
  readonly recoups: string | null
  readonly maxPerCustomer: Decimal | null
}

/** A rule that pays an amount for each unit. */
export interface CompiledUnitRule extends RuleBase {
  readonly kind: 'unit'
  readonly unit: CompiledUnit
  readonly each: Decimal
}

/** A rule that pays for affiliates below. */
export interface CompiledOverride extends RuleBase {
  readonly kind: 'override'
  readonly level: number
  readonly of:
    | { readonly lines: ReadonlySet<string> }
    | { readonly base: CompiledBase }
    | { readonly unit: CompiledUnit }
    | { readonly once: string }
  readonly each: Decimal
  readonly offset: boolean
  readonly downline: boolean
}
