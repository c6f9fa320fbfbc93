import type { FactResource } from './facts.ts'
import type { HoldReason } from './reasons.ts'

// The steps of an explanation that lead to what the rate applies to. All figures are decimal text.

/** How many records were counted in a currency, and what their amounts sum to as sent. */
export interface Counted {
  readonly currency: string
  readonly count: number
  readonly amount: string
}

/** The facts that a base counts, by term. */
export interface FactsStep {
  readonly step: 'facts'
  /** How many different records were counted, of how many customers. */
  readonly records: number
  readonly customers: number
  readonly terms: readonly {
    /** The term as the plan has it. */
    readonly term: unknown
    readonly currencies: readonly Counted[]
  }[]
}

/** The rate that a conversion used: units of the currency for one euro. */
export interface UsedRate {
  readonly currency: string
  readonly rate: string
  /** The day on which it was published; null if that is not known, as for the euro itself. */
  readonly day: string | null
}

/** The amounts of a term in one currency on one day that were converted. */
export interface DayConversion {
  /** The position of the term in the base, from 0. */
  readonly term: number
  readonly day: string
  readonly currency: string
  /** The two rates; empty if every amount was converted through its `amount_usd`. */
  readonly rates: readonly UsedRate[]
  /** How many sums (one for each customer and product) were converted and rounded apart. */
  readonly sums: number
  readonly amount: string
  readonly converted: string
  /** What was converted through `amount_usd`, which `amount` and `converted` do not include. */
  readonly by_amount_usd: { readonly amount: string; readonly converted: string } | null
}

/** Conversions into the plan's currency. Amounts in that currency are not listed. */
export interface ConversionStep {
  readonly step: 'conversion'
  readonly currency: string
  readonly days: readonly DayConversion[]
}

/** A base, term by term: each `value` is `sum` × `times`, and the values sum to `base`. */
export interface BaseStep {
  readonly step: 'base'
  readonly terms: readonly {
    readonly term: unknown
    readonly sum: string
    readonly times: string
    readonly value: string
  }[]
  readonly base: string
}

/** Units, and what is paid for: `quantity` = `units` ÷ `each`. */
export interface UnitsStep {
  readonly step: 'units'
  readonly records: number
  readonly customers: number
  readonly unit: unknown
  readonly units: string
  readonly each: string
  readonly quantity: string
}

/** A record, with an amount of it in the plan's currency. */
export interface CountedRecord {
  readonly resource: FactResource
  readonly id: string
  readonly day: string
  /** The instant; null for whole days. */
  readonly at: string | null
  readonly amount: string | null
  readonly currency: string | null
  /** Its amount in the plan's currency, with `times`; null if the rule does not use it. */
  readonly converted: string | null
}

/** The record that triggered a `once` rule. */
export interface TriggerStep {
  readonly step: 'trigger'
  readonly record: CountedRecord
  /** The least amount; null if the rule has none. */
  readonly min: string | null
}

/** A condition of `qualify` that was met. */
export interface MetCondition {
  /** The condition as the plan has it. */
  readonly condition: unknown
  readonly met_on: string
  readonly met_at: string
  /** What the sum or count had reached then; null for conditions on the customer. */
  readonly reached: string | null
  readonly min: string | null
  /** The first of its records. */
  readonly records: readonly CountedRecord[]
  readonly records_total: number
}

/** The conditions of `qualify`, and the day of the qualification: the latest of all. */
export interface QualificationStep {
  readonly step: 'qualification'
  readonly conditions: readonly MetCondition[]
  readonly qualified_on: string
  readonly qualified_at: string
}

/** Lines of an affiliate below that an override pays for, of one statement and rule. */
export interface SourceLines {
  readonly plan: string
  readonly period: string
  readonly rule: string
  readonly version: number
  readonly currency: string
  readonly lines: number
  readonly amount: string
}

/** What an override over lines pays for: sums by currency, converted on the period's last day. */
export interface SourcesStep {
  readonly step: 'sources'
  readonly affiliate_id: string
  readonly sources: readonly SourceLines[]
  readonly conversions: readonly {
    readonly currency: string
    readonly amount: string
    readonly rates: readonly UsedRate[]
    /** Null if the currency has no rate: it waits, and is not paid. */
    readonly converted: string | null
    readonly reason: HoldReason | null
  }[]
  /** The sum of what was converted, or the number of lines. */
  readonly sum: string
}

/** An upline's line that this affiliate pays for: `amount` = −`converted`. */
export interface FundedStep {
  readonly step: 'funded'
  readonly affiliate_id: string
  readonly plan: string
  readonly period: string
  readonly amount: string
  readonly currency: string
  readonly rates: readonly UsedRate[]
  readonly converted: string
}
