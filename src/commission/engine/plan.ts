/** The version of a plan as its author wrote it (§12): decimals are text. */
export interface PlanTerms {
  readonly name: string
  readonly currency: string
  readonly period: 'month' | 'week'
  readonly effective_from: string
  readonly terms: 'signup' | 'current'
  readonly negative: 'carry' | 'zero'
  readonly minimum_payout: string
  readonly hold_days: number
  readonly rules: readonly Rule[]
}

/** A rule of a plan, by its kind. */
export type Rule = OnceRule | ShareRule | UnitRule | OverrideRule

/** What every rule may have. */
interface RuleBase {
  readonly id: string
  readonly when?: Conditions
  readonly months?: number
  readonly tiers?: Tiers
  readonly max?: string
}

/** Pays once for a customer. */
export interface OnceRule extends RuleBase {
  readonly kind: 'once'
  readonly trigger: Trigger
  readonly amount?: string
  readonly percent?: string
  readonly min_amount?: string
  readonly max_amount?: string
  readonly qualify?: readonly Qualification[]
  /** How many hours before the signup facts count for the trigger and `qualify`. */
  readonly grace_hours?: number
  readonly requalify?: boolean
  readonly void_by?: { readonly terms: readonly FactTerm[]; readonly within_days: number }
  readonly max_count?: number
  readonly max_per_customer?: string
  /** Whether a percentage above 100 is intended. It only silences a warning. */
  readonly allow_over_100?: boolean
}

/** Pays a percentage of a base. */
export interface ShareRule extends RuleBase {
  readonly kind: 'share'
  readonly percent?: string
  readonly base: readonly Term[]
  readonly per?: 'affiliate' | 'customer' | 'product'
  readonly negative?: 'offset' | 'zero' | 'carry'
  readonly fence?: { readonly customer: string; readonly affiliate: string }
  readonly recoups?: string
  readonly max_per_customer?: string
  /** Whether a percentage above 100 is intended. It only silences a warning. */
  readonly allow_over_100?: boolean
}

/** Pays an amount for each unit. */
export interface UnitRule extends RuleBase {
  readonly kind: 'unit'
  readonly unit: Unit
  readonly each?: string
  readonly amount?: string
}

/** Pays for the affiliates exactly `level` levels below. */
export interface OverrideRule extends RuleBase {
  readonly kind: 'override'
  readonly level: number
  readonly of: OverrideOf
  readonly percent?: string
  readonly amount?: string
  readonly each?: string
  readonly negative?: 'offset' | 'zero'
  readonly funded_by?: 'operator' | 'downline'
  /** Whether a percentage above 100 is intended. It only silences a warning. */
  readonly allow_over_100?: boolean
}

/** What an override pays for. */
export type OverrideOf =
  | { readonly lines: readonly ('once' | 'share' | 'unit')[] }
  | { readonly base: readonly Term[] }
  | { readonly unit: Unit }
  | { readonly once: string }

/** Transactions of some types, and of some subtypes if they are given. */
export interface TransactionKind {
  readonly transactions: readonly string[]
  readonly subtypes?: readonly string[]
}
/** Trading activity that carries a field. */
export interface ActivityKind {
  readonly activity: ActivityField
}
/** Events of a name; with `kpi` those that carry it. */
export interface EventKind {
  readonly event: string
  readonly kpi?: string
}
/** The fields of trading activity that a plan can name. */
export type ActivityField = 'lots_traded' | 'pnl' | 'volume_usd' | 'spread_cost' | 'commission'

/** What a `once` rule waits for. `min` is the least amount of that one fact. */
export type Trigger =
  | (TransactionKind & { readonly min?: string })
  | (EventKind & { readonly min?: string })
  | { readonly signup: true }

/** A term that sums facts. */
export type FactTerm = (TransactionKind | ActivityKind | EventKind) & {
  readonly name?: string
  readonly times?: string
  readonly when?: Conditions
}

/** A term of a base: facts, a part of terms before it, or an amount of each period. */
export type Term =
  | FactTerm
  | { readonly of: readonly string[]; readonly times: string; readonly name?: string }
  | { readonly fixed: string; readonly name?: string }

/** What a unit rule counts. */
export type Unit =
  | { readonly activity: 'lots_traded' | 'volume_usd' }
  | { readonly event: string; readonly kpi: string }
  | { readonly count: TransactionKind | EventKind }

/** A condition that a customer must meet before a `once` rule pays. */
export type Qualification =
  | {
      readonly sum: readonly FactTerm[]
      readonly min: string
      readonly within_days?: number
      readonly at?: 'first' | 'end'
    }
  | {
      readonly count: TransactionKind | EventKind | ActivityKind
      readonly min: number | string
      readonly within_days?: number
    }
  | { readonly customer: Conditions }

/** Conditions on the customer, by the values of the fact's day, and on the fact. All must hold. */
export interface Conditions {
  readonly countries?: readonly string[]
  readonly not_countries?: readonly string[]
  readonly account_types?: readonly string[]
  readonly not_account_types?: readonly string[]
  readonly challenge_types?: readonly string[]
  readonly not_challenge_types?: readonly string[]
  readonly phases?: readonly string[]
  readonly not_phases?: readonly string[]
  readonly kyc?: readonly string[]
  readonly not_kyc?: readonly string[]
  readonly sales?: readonly string[]
  readonly not_sales?: readonly string[]
  readonly links?: readonly string[]
  readonly not_links?: readonly string[]
  readonly account_size?: { readonly min?: string; readonly max?: string }
  readonly instruments?: readonly string[]
  readonly not_instruments?: readonly string[]
  readonly products?: readonly string[]
  readonly not_products?: readonly string[]
  readonly currencies?: readonly string[]
  readonly not_currencies?: readonly string[]
  readonly subtypes?: readonly string[]
  readonly not_subtypes?: readonly string[]
}

/** The name of a condition, without `not_`. */
export type ConditionName = Exclude<keyof Conditions, `not_${string}`>

/** The name of a condition that is a list of values, without `not_`. */
export type ListName = Exclude<ConditionName, 'account_size'>

/** Rates by what has been reached. */
export interface Tiers {
  readonly mode: 'whole' | 'slice'
  readonly by?:
    | { readonly once: string }
    | { readonly customers: 'active' }
    | { readonly base: readonly Term[] }
  readonly over?: 'own' | 'network'
  readonly window?: 'period' | 'quarter' | 'lifetime'
  readonly steps: readonly TierStep[]
}

/** `percent` where the rule has a percentage, `amount` where it has an amount. */
export interface TierStep {
  readonly from: string
  readonly percent?: string
  readonly amount?: string
}
