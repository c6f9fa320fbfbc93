import { HOUR_MS } from '../../durations.ts'
import { compileConditions } from './conditions.ts'
import { type Decimal, decimal, floorTo, ONE, ZERO } from './decimal.ts'
import type {
  OnceRule,
  OverrideRule,
  PlanTerms,
  Qualification,
  Rule,
  ShareRule,
  Tiers,
  UnitRule,
} from './plan.ts'
import type {
  CompiledOnce,
  CompiledOverride,
  CompiledQualification,
  CompiledRule,
  CompiledShare,
  CompiledTiers,
  CompiledUnitRule,
  RuleBase,
} from './rules.ts'
import { amountKind, compileBase, compileKind, compileTerm, compileUnit } from './terms.ts'

/** Compiles the rules of a version. */
export const compileRules = ({ rules }: PlanTerms, digits: number): CompiledRule[] =>
  rules.map((rule) => limitDigits(compileRule(rule), digits))

/** Rounds caps down to the minor unit of the currency, so that what they leave has no more digits. */
function limitDigits(rule: CompiledRule, digits: number): CompiledRule {
  const floor = (cap: Decimal | null): Decimal | null => cap && floorTo(cap, digits)
  const max = floor(rule.max)
  if (rule.kind !== 'once' && rule.kind !== 'share') return { ...rule, max }
  return { ...rule, max, maxPerCustomer: floor(rule.maxPerCustomer) }
}

function compileRule(rule: Rule): CompiledRule {
  if (rule.kind === 'once') return compileOnce(rule)
  if (rule.kind === 'share') return compileShare(rule)
  return rule.kind === 'unit' ? compileUnitRule(rule) : compileOverride(rule)
}

const optional = (text: string | undefined): Decimal | null =>
  text === undefined ? null : decimal(text)

function compileShared(rule: Rule, rateIs: 'percent' | 'amount'): RuleBase {
  const { percent, amount } = { percent: undefined, amount: undefined, ...rule }
  return {
    id: rule.id,
    when: compileConditions(rule.when),
    months: rule.months ?? null,
    rate: optional(rateIs === 'percent' ? percent : amount) ?? ZERO,
    rateIs,
    tiers: rule.tiers ? compileTiers(rule.tiers, rateIs) : null,
    max: optional(rule.max),
  }
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
    steps: [first ?? { from: ZERO, rate: ZERO }, ...others],
  }
}

/** The hours before the signup in which facts count, unless a rule says otherwise (§16.27). */
const DEFAULT_GRACE_HOURS = 24

function compileOnce(rule: OnceRule): CompiledOnce {
  const { trigger } = rule
  const usesPercent =
    rule.percent !== undefined || rule.tiers?.steps.some((step) => step.percent !== undefined)
  const min = 'min' in trigger ? optional(trigger.min) : null
  const needsAmount = min !== null || usesPercent === true || rule.void_by !== undefined
  return {
    ...compileShared(rule, usesPercent ? 'percent' : 'amount'),
    kind: 'once',
    trigger: 'signup' in trigger ? null : compileKind(needsAmount ? amountKind(trigger) : trigger),
    min,
    minAmount: optional(rule.min_amount),
    maxAmount: optional(rule.max_amount),
    needsAmount,
    qualify: (rule.qualify ?? []).map(compileQualification),
    grace: (rule.grace_hours ?? DEFAULT_GRACE_HOURS) * HOUR_MS,
    requalify: rule.requalify ?? false,
    voidBy: rule.void_by
      ? {
          terms: rule.void_by.terms.map((term) => compileTerm(term)),
          withinDays: rule.void_by.within_days,
        }
      : null,
    maxCount: rule.max_count ?? null,
    maxPerCustomer: optional(rule.max_per_customer),
  }
}

function compileQualification(qualification: Qualification): CompiledQualification {
  if ('customer' in qualification) {
    const { customer } = qualification
    return { kind: 'customer', conditions: compileConditions(customer), source: customer }
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
    negative: rule.negative ?? 'offset',
    fence: rule.fence
      ? { customer: decimal(rule.fence.customer), affiliate: decimal(rule.fence.affiliate) }
      : null,
    recoups: rule.recoups ?? null,
    maxPerCustomer: optional(rule.max_per_customer),
  }
}

function compileUnitRule(rule: UnitRule): CompiledUnitRule {
  return {
    ...compileShared(rule, 'amount'),
    kind: 'unit',
    unit: compileUnit(rule.unit),
    each: optional(rule.each) ?? ONE,
  }
}

function compileOverride(rule: OverrideRule): CompiledOverride {
  const { of } = rule
  const paysAmount = 'unit' in of || 'once' in of
  return {
    ...compileShared(rule, paysAmount ? 'amount' : 'percent'),
    kind: 'override',
    level: rule.level,
    of:
      'lines' in of
        ? { lines: new Set<string>(of.lines) }
        : 'base' in of
          ? { base: compileBase(of.base) }
          : 'unit' in of
            ? { unit: compileUnit(of.unit) }
            : of,
    each: optional(rule.each) ?? ONE,
    offset: rule.negative === 'offset',
    downline: rule.funded_by === 'downline',
  }
}
