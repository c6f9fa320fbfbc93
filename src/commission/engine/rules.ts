import { HOUR_MS } from '../../platform/durations.ts'
import { type Decimal, decimal, ONE, ZERO } from '../../platform/money/decimal.ts'
import type {
  ActivityKind,
  EventKind,
  OnceRule,
  OverrideRule,
  Qualification,
  Rule,
  ShareRule,
  Tiers,
  TransactionKind,
  UnitRule,
} from '../plans/types.ts'
import { type ConditionCheck, compileConditions } from './conditions.ts'
import {
  amountKind,
  type CompiledBase,
  type CompiledTerm,
  type CompiledUnit,
  compileBase,
  compileKind,
  compileTerm,
  compileUnit,
  type FactKind,
} from './terms.ts'

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
  /** What it pays for, as `payUnit` names it. */
  readonly unitName: string
  /** How many units `rate` pays for. */
  readonly each: Decimal
}

/** Tiers in place of a percentage or an amount. */
export interface CompiledTiers {
  readonly mode: 'whole' | 'slice'
  readonly by: { readonly once: string } | 'active' | CompiledBase | null
  readonly network: boolean
  readonly window: 'period' | 'quarter' | 'lifetime'
  /** In order of `from`. The first also applies below its `from`. */
  readonly steps: readonly [CompiledStep, ...CompiledStep[]]
  /** The tiers as the plan has them. */
  readonly source: Tiers
}

/** A step of tiers: the measure from which it applies, and its rate. */
export interface CompiledStep {
  readonly from: Decimal
  readonly rate: Decimal
}

/** A rule that pays once for a customer. */
export interface CompiledOnce extends RuleBase {
  readonly kind: 'once'
  /** The rule as the plan has it, from which modifiers read their members. */
  readonly source: OnceRule
  /** The facts that trigger it; null for the signup. */
  readonly trigger: FactKind | null
  readonly min: Decimal | null
  /** Whether the amount of the trigger must be converted. */
  readonly needsAmount: boolean
  readonly qualify: readonly CompiledQualification[]
  /** How long before the signup facts count for the trigger and `qualify`, in milliseconds. */
  readonly grace: number
  readonly voidBy: { readonly terms: readonly CompiledTerm[]; readonly withinDays: number } | null
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
  | { readonly kind: 'customer'; readonly conditions: ConditionCheck }

/** A rule that pays a percentage of a base. */
export interface CompiledShare extends RuleBase {
  readonly kind: 'share'
  readonly source: ShareRule
  readonly base: CompiledBase
  readonly per: 'affiliate' | 'customer' | 'product'
}

/** A rule that pays an amount for each unit. */
export interface CompiledUnitRule extends RuleBase {
  readonly kind: 'unit'
  readonly source: UnitRule
  readonly unit: CompiledUnit
}

/** A rule that pays for affiliates below. */
export interface CompiledOverride extends RuleBase {
  readonly kind: 'override'
  readonly source: OverrideRule
  readonly of:
    | { readonly lines: ReadonlySet<string> }
    | { readonly base: CompiledBase }
    | { readonly unit: CompiledUnit }
    | { readonly once: string }
}

/** Compiles a rule of a version. */
export function compileRule(rule: Rule): CompiledRule {
  if (rule.kind === 'once') return compileOnce(rule)
  if (rule.kind === 'share') return compileShare(rule)
  return rule.kind === 'unit' ? compileUnitRule(rule) : compileOverride(rule)
}

const optional = (text: string | undefined): Decimal | null =>
  text === undefined ? null : decimal(text)

function compileShared(rule: Rule, rateIs: 'percent' | 'amount'): RuleBase {
  const { percent, amount, each }: { percent?: string; amount?: string; each?: string } = rule
  return {
    id: rule.id,
    when: compileConditions(rule.when),
    months: rule.months ?? null,
    rate: optional(rateIs === 'percent' ? percent : amount) ?? ZERO,
    rateIs,
    tiers: rule.tiers ? compileTiers(rule.tiers, rateIs) : null,
    unitName: payUnit(rule),
    each: optional(each) ?? ONE,
  }
}

/** Names what a rule pays for: money, customers of a `once` rule, or one kind of unit. */
export function payUnit(rule: Rule): string {
  const of = rule.kind === 'override' ? rule.of : rule
  if (!('unit' in of)) return rule.kind === 'once' || 'once' in of ? 'once' : 'money'
  const { unit } = of
  const kind: Partial<TransactionKind & ActivityKind & EventKind> =
    'count' in unit ? unit.count : unit
  const lists = [kind.transactions, kind.subtypes].map((list) => list?.toSorted())
  return JSON.stringify(['count' in unit, ...lists, kind.activity, kind.event, kind.kpi])
}

function compileTiers(tiers: Tiers, rateIs: 'percent' | 'amount'): CompiledTiers {
  const { by } = tiers
  const [first, ...others] = tiers.steps.map((step) => ({
    from: decimal(step.from),
    rate: optional(step[rateIs]) ?? ZERO,
  }))
  return {
    mode: tiers.mode,
    by:
      by === undefined
        ? null
        : 'once' in by
          ? by
          : 'base' in by
            ? compileBase(by.base)
            : ('active' as const),
    network: tiers.over === 'network',
    window: tiers.window ?? 'period',
    source: tiers,
    steps: [first ?? { from: ZERO, rate: ZERO }, ...others],
  }
}

/** The hours before the signup in which facts count, unless a rule says otherwise (§16.27). */
export const DEFAULT_GRACE_HOURS = 24

function compileOnce(rule: OnceRule): CompiledOnce {
  const { trigger } = rule
  const usesPercent =
    rule.percent !== undefined || rule.tiers?.steps.some((step) => step.percent !== undefined)
  const min = 'min' in trigger ? optional(trigger.min) : null
  const needsAmount = min !== null || usesPercent === true || rule.void_by !== undefined
  return {
    ...compileShared(rule, usesPercent ? 'percent' : 'amount'),
    kind: 'once',
    source: rule,
    trigger: 'signup' in trigger ? null : compileKind(needsAmount ? amountKind(trigger) : trigger),
    min,
    needsAmount,
    qualify: (rule.qualify ?? []).map(compileQualification),
    grace: (rule.grace_hours ?? DEFAULT_GRACE_HOURS) * HOUR_MS,
    voidBy: rule.void_by
      ? {
          terms: rule.void_by.terms.map((term) => compileTerm(term)),
          withinDays: rule.void_by.within_days,
        }
      : null,
  }
}

function compileQualification(qualification: Qualification): CompiledQualification {
  if ('customer' in qualification) {
    const { customer } = qualification
    return { kind: 'customer', conditions: compileConditions(customer) }
  }
  const withinDays = qualification.within_days ?? null
  const min = decimal(String(qualification.min))
  if ('count' in qualification) {
    const terms = [{ ...compileTerm(qualification.count), ...compileKind(qualification.count) }]
    return { kind: 'count', terms, min, withinDays, atEnd: false }
  }
  const terms = qualification.sum.map((term) => compileTerm(term))
  return { kind: 'sum', terms, min, withinDays, atEnd: qualification.at === 'end' }
}

function compileShare(rule: ShareRule): CompiledShare {
  return {
    ...compileShared(rule, 'percent'),
    kind: 'share',
    base: compileBase(rule.base),
    per: rule.per ?? 'affiliate',
    source: rule,
  }
}

function compileUnitRule(rule: UnitRule): CompiledUnitRule {
  return {
    ...compileShared(rule, 'amount'),
    kind: 'unit',
    source: rule,
    unit: compileUnit(rule.unit),
  }
}

function compileOverride(rule: OverrideRule): CompiledOverride {
  const { of } = rule
  const paysAmount = 'unit' in of || 'once' in of
  return {
    ...compileShared(rule, paysAmount ? 'amount' : 'percent'),
    kind: 'override',
    source: rule,
    of:
      'lines' in of
        ? { lines: new Set<string>(of.lines) }
        : 'base' in of
          ? { base: compileBase(of.base) }
          : 'unit' in of
            ? { unit: compileUnit(of.unit) }
            : of,
  }
}
