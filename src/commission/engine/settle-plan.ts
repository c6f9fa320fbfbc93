import { overlapping, type Period } from '../../platform/money/calendar.ts'
import type { Counted } from '../plans/modifiers/modifier.ts'
import type { InPeriod } from './account.ts'
import { compareQualified, type OnceState } from './once.ts'
import { type Plan, type Version, versionsIn } from './plans-in-force.ts'
import type { CompiledOnce, CompiledRule } from './rules.ts'
import type { Settlement } from './settlement.ts'
import type { OpenState } from './state.ts'
import type { AffiliateSums, RuleSums } from './sums.ts'

/** Everything that the lines of one affiliate, plan and period are made from. */
export interface PlanInput {
  readonly settlement: Settlement
  readonly account: InPeriod
  readonly affiliate: string
  readonly plan: Plan
  readonly sums: AffiliateSums
  /** Changed while lines are made. */
  readonly state: OpenState
  /** By `once` rule id: who qualified in the period, in order, and whether `max_count` allows it. */
  readonly qualified: ReadonlyMap<string, readonly Qualified[]>
}

/** A customer who qualified by a `once` rule in the period. */
export interface Qualified extends Counted {
  readonly state: OnceState
  readonly rule: CompiledOnce
  /** The number of lines before it that `max_count` allowed. */
  readonly before: number
}

/**
 * Orders the qualifications of a plan by rule, and applies `max_count` over all versions. That of the
 * latest version with a qualification applies.
 */
export function countQualified(plan: Plan, once: readonly OnceState[]): Map<string, Qualified[]> {
  const ofPlan = once.filter(({ version }) => version.plan === plan.plan).sort(compareQualified)
  const byRule = Map.groupBy(ofPlan, ({ rule }) => rule.id)
  return new Map([...byRule].map(([id, states]) => [id, countRule(states)]))
}

function countRule(states: readonly OnceState[]): Qualified[] {
  const latest = states.reduce((a, b) =>
    b.version.effectiveFrom > a.version.effectiveFrom ? b : a,
  )
  const maxCount = latest.rule.source.max_count ?? null
  return states.map((state, index) => ({
    state,
    rule: state.rule,
    before: maxCount === null ? index : Math.min(index, maxCount),
    beyondCount: maxCount !== null && index >= maxCount,
    maxCount,
    position: index + 1,
  }))
}

/** Returns how many lines of a `once` rule `max_count` allowed. */
export const countOnce = ({ qualified }: Pick<PlanInput, 'qualified'>, rule: string): number =>
  qualified.get(rule)?.filter(({ beyondCount }) => !beyondCount).length ?? 0

/** Counts the lines of a `once` rule of affiliates below whose qualification day lies in the period. */
export function countOnceBelow(
  { settlement, affiliate, account }: PlanInput,
  rule: string,
): number {
  const { period, tree, inForce } = account
  const sums = [period, ...overlapping(period)].flatMap(({ id }) => settlement.sums.get(id) ?? [])
  let count = 0
  for (let level = 1; ; level++) {
    const below = tree.below(affiliate, level, period.last)
    if (below.length === 0) return count
    for (const id of below) {
      for (const one of sums) count += countIn(inForce.plans, one.get(id)?.once ?? [], rule, period)
    }
  }
}

function countIn(
  plans: ReadonlyMap<string, Plan>,
  once: readonly OnceState[],
  rule: string,
  { first, last }: Period,
): number {
  let count = 0
  const ofRule = once.filter(({ rule: { id } }) => id === rule)
  for (const [name, states] of Map.groupBy(ofRule, ({ version }) => version.plan)) {
    const plan = plans.get(name)
    const found = (plan && countQualified(plan, states).get(rule)) ?? []
    const inPeriod = found.filter(({ state: { day } }) => day >= first && day <= last)
    count += countOnce({ qualified: new Map([[rule, inPeriod]]) }, rule)
  }
  return count
}

/** A rule of one version with what its facts came to, if there were any. */
export interface RuleOfVersion<R extends CompiledRule> {
  readonly version: Version
  readonly rule: R
  readonly sums: RuleSums | null
}

/**
 * Returns the rules with the given id, of the versions that can have lines in the period: those with
 * facts, and those that may have a carry or a deficit.
 */
export function rulesWith<R extends CompiledRule>(
  { plan, sums, account }: PlanInput,
  kind: R['kind'],
  id: string,
): RuleOfVersion<R>[] {
  const isKind = (rule: CompiledRule): rule is R => rule.kind === kind
  return versionsIn(plan, account.period.first).flatMap((version) => {
    const rule = version.rules.filter(isKind).find((one) => one.id === id)
    return rule ? [{ version, rule, sums: sums.ownRules.get(rule) ?? null }] : []
  })
}

/** Returns the rule ids of a plan in the order of lines. */
export function ruleOrder(plan: Plan): { id: string; kinds: Set<CompiledRule['kind']> }[] {
  const order = new Map<string, Set<CompiledRule['kind']>>()
  for (const { rules } of plan.versions.toReversed()) {
    for (const { id, kind } of rules) {
      const kinds = order.get(id) ?? new Set<CompiledRule['kind']>()
      order.set(id, kinds.add(kind))
    }
  }
  return [...order].map(([id, kinds]) => ({ id, kinds }))
}

/** Returns a function that returns the position of a rule's lines; rules of other plans come last. */
export function rulePositions(plan: Plan): (rule: string) => number {
  const positions = new Map(ruleOrder(plan).map(({ id }, index) => [id, index]))
  return (rule) => positions.get(rule) ?? positions.size
}
