import type * as v from 'valibot'
import type { Fixed } from '../../platform/http/operation-words.ts'
import type { planTerms } from './plan.ts'

// The version of a plan as its author wrote it (§12), typed by its schema. Decimals are text.

/** A version of a plan. */
export type PlanTerms = Fixed<v.InferOutput<typeof planTerms>>

/** A rule of a plan, by its kind. */
export type Rule = PlanTerms['rules'][number]

type RuleOf<Kind extends Rule['kind']> = Extract<Rule, { readonly kind: Kind }>

/** Pays once for a customer. */
export type OnceRule = RuleOf<'once'>
/** Pays a percentage of a base. */
export type ShareRule = RuleOf<'share'>
/** Pays an amount for each unit. */
export type UnitRule = RuleOf<'unit'>
/** Pays for the affiliates exactly `level` levels below. */
export type OverrideRule = RuleOf<'override'>

/** What a `once` rule waits for. `min` is the least amount of that one fact. */
export type Trigger = OnceRule['trigger']
/** A condition that a customer must meet before a `once` rule pays. */
export type Qualification = NonNullable<OnceRule['qualify']>[number]
/** A term of a base: facts, a part of terms before it, or an amount of each period. */
export type Term = ShareRule['base'][number]
/** A term that sums facts. */
export type FactTerm = Exclude<Term, { readonly of: unknown } | { readonly fixed: unknown }>
/** What a unit rule counts. */
export type Unit = UnitRule['unit']

type Counted = Extract<Qualification, { readonly count: unknown }>['count']

/** Transactions of some types, and of some subtypes if they are given. */
export type TransactionKind = Extract<Counted, { readonly transactions: unknown }>
/** Trading activity that carries a field. */
export type ActivityKind = Extract<Counted, { readonly activity: unknown }>
/** Events of a name; with `kpi` those that carry it. */
export type EventKind = Extract<Counted, { readonly event: unknown }>
/** The fields of trading activity that a plan can name. */
export type ActivityField = ActivityKind['activity']

/** Conditions on the customer, by the values of the fact's day, and on the fact. All must hold. */
export type Conditions = NonNullable<Rule['when']>
/** The name of a condition, without `not_`. */
export type ConditionName = Exclude<keyof Conditions, `not_${string}`>
/** The name of a condition that is a list of values, without `not_`. */
export type ListName = Exclude<ConditionName, 'account_size'>

/** Rates by what has been reached. */
export type Tiers = NonNullable<Rule['tiers']>
