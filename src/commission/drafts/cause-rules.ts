import { type FactNeeds, factNeeds } from '../engine/fact-needs.ts'
import type { PlanTerms, Rule } from '../engine/plan.ts'
import { versionsOf } from '../engine/plans-in-force.ts'
import type { AccountSource } from '../facts/source.ts'
import type { CorrectedLine } from './cause.ts'

/** What the rules behind a line depend on. */
export interface LineRules {
  /** The facts that they name; null: any facts. */
  readonly needs: FactNeeds | null
  /** Whether the line's rule is a `once` rule. */
  readonly once: boolean
  /** Whether the signup triggers one of them. */
  readonly signup: boolean
  /** Whether facts of earlier periods have an effect. */
  readonly remembers: boolean
  /** The days after the period whose facts may have an effect. */
  readonly daysAfter: number
  /** The affiliate below that an override pays for. */
  readonly below: string | null
  /** Whether lines of several customers have an effect on each other. */
  readonly shared: boolean
  /** Whether facts of other affiliates have an effect, too. */
  readonly network: boolean
}

const ANYTHING: LineRules = {
  needs: null,
  once: false,
  signup: true,
  remembers: true,
  daysAfter: 0,
  below: null,
  shared: true,
  network: true,
}

/** Returns what a line depends on: its own rule in all versions, and the rules to which that refers. */
export function rulesOf(
  { inForce }: Pick<AccountSource, 'inForce'>,
  { plan, line }: Pick<CorrectedLine, 'plan' | 'line'>,
): LineRules {
  if (line === null) return ANYTHING
  const all = versionsOf(inForce, plan).flatMap(({ source }) => source.rules)
  const own = all.filter(({ id }) => id === line.rule)
  const isOfAffiliate = line.scope.startsWith('affiliate:')
  const overrides = own.filter((rule) => rule.kind === 'override')
  // If the affiliate pays for an upline's override, the rule belongs to the plan of the upline.
  if (own.length === 0 || isOfAffiliate !== overrides.length > 0) return ANYTHING
  const below = isOfAffiliate ? line.scope.slice('affiliate:'.length) : null
  const paidFor = below === null ? [] : rulesBelow(inForce, below, overrides)
  const rules = [...own, ...all.filter((rule) => refersTo(own, rule)), ...paidFor]
  return {
    needs: factNeeds([{ ...NO_TERMS, rules }]),
    once: own.some(({ kind }) => kind === 'once'),
    signup: rules.some((rule) => rule.kind === 'once' && 'signup' in rule.trigger),
    remembers: rules.some(remembers),
    daysAfter: Math.max(0, ...rules.map(daysAfter)),
    below,
    shared: own.some(isShared),
    network: own.some(({ tiers }) => tiers?.over === 'network'),
  }
}

const NO_TERMS: Omit<PlanTerms, 'rules'> = {
  name: '',
  currency: '',
  period: 'month',
  effective_from: '',
  terms: 'signup',
  negative: 'carry',
  minimum_payout: '0',
  hold_days: 0,
}

/** Whether one of some rules measures or recoups another. */
const refersTo = (rules: readonly Rule[], { id, kind }: Rule): boolean =>
  kind === 'once' &&
  rules.some(
    (rule) =>
      (rule.tiers?.by && 'once' in rule.tiers.by && rule.tiers.by.once === id) ||
      (rule.kind === 'share' && rule.recoups === id),
  )

/** Returns the rules of an affiliate whose lines overrides pay for. */
function rulesBelow(
  inForce: AccountSource['inForce'],
  below: string,
  overrides: readonly Extract<Rule, { kind: 'override' }>[],
): Rule[] {
  const plans = new Set(inForce.assignmentsOf(below).map(({ plan }) => plan))
  const all = [...plans].flatMap((plan) =>
    versionsOf(inForce, plan).flatMap(({ source }) => source.rules),
  )
  const paid = all.filter((rule) =>
    overrides.some(({ of }) => {
      if ('lines' in of) return of.lines.some((kind) => kind === rule.kind)
      return 'once' in of && rule.kind === 'once' && rule.id === of.once
    }),
  )
  return [...paid, ...all.filter((rule) => refersTo(paid, rule))]
}

const isShared = (rule: Rule): boolean =>
  rule.tiers !== undefined ||
  rule.max !== undefined ||
  (rule.kind === 'once' && rule.max_count !== undefined)

/** Whether earlier periods have an effect on a rule. */
function remembers(rule: Rule): boolean {
  if ((rule.tiers?.window ?? 'period') !== 'period') return true
  if (rule.kind === 'once') return true
  if (rule.kind !== 'share') return false
  return rule.negative === 'carry' || rule.fence !== undefined || rule.recoups !== undefined
}

/** Returns how long after its period the facts of a rule can have an effect. */
function daysAfter(rule: Rule): number {
  if (rule.kind !== 'once') return 0
  const atEnd = (rule.qualify ?? []).flatMap((one) =>
    'sum' in one && one.at === 'end' ? [one.within_days ?? 0] : [],
  )
  return Math.max(0, rule.void_by?.within_days ?? 0, ...atEnd)
}
