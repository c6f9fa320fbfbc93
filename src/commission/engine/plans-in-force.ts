import { dayNumber, firstDayOf, type PeriodKind } from '../../platform/money/calendar.ts'
import { minorDigits } from '../../platform/money/minor-digits.ts'
import type { PlanTerms } from '../plans/types.ts'
import { type CompiledOnce, type CompiledRule, compileRule } from './rules.ts'

/** A version of a plan, ready to be applied. */
export interface Version {
  readonly plan: string
  readonly version: number
  readonly effectiveFrom: number
  readonly currency: string
  /** The decimal places of the currency's minor unit. */
  readonly digits: number
  readonly period: PeriodKind
  readonly terms: 'signup' | 'current'
  readonly rules: readonly CompiledRule[]
  readonly source: PlanTerms
}

/** A `once` rule of a version. */
export interface OnceOfVersion {
  readonly version: Version
  readonly rule: CompiledOnce
}

/** A plan with its versions, which were not withdrawn, in order of `effective_from`. */
export interface Plan {
  readonly plan: string
  readonly versions: readonly Version[]
  readonly first: Version
}

/** Under which plan an affiliate earns from a day on. */
export interface Assignment {
  readonly affiliate_id: string
  readonly plan: string
  readonly from: number
  readonly customers: 'new' | 'all'
}

/** All plans and assignments of an account. */
export interface PlansInForce {
  readonly plans: ReadonlyMap<string, Plan>
  /** By affiliate, those of `*` before its first own included, in order of `from`; an affiliate without one has those of `*`. */
  readonly assignments: ReadonlyMap<string, readonly Assignment[]>
}

/** Returns an affiliate's assignments in order of `from`. */
export const assignmentsOf = ({ assignments }: PlansInForce, affiliate: string) =>
  assignments.get(affiliate) ?? assignments.get('*') ?? []

/** The plans and assignments of an account, as they are stored. */
export interface PlansInForceInput {
  readonly plans: readonly {
    readonly plan: string
    readonly versions: readonly { readonly version: number; readonly terms: PlanTerms }[]
  }[]
  readonly assignments: readonly Assignment[]
}

/** Compiles the plans of an account. Plans without a version are left out. */
export function buildPlansInForce({ plans, assignments }: PlansInForceInput): PlansInForce {
  const compiled = plans.flatMap(({ plan, versions }) => {
    const ready = versions
      .map(({ version, terms }) => compileVersion(plan, version, terms))
      .sort((a, b) => a.effectiveFrom - b.effectiveFrom || a.version - b.version)
    const [first] = ready
    return first ? [{ plan, versions: ready, first }] : []
  })
  const inOrder = [...assignments].sort((a, b) => a.from - b.from)
  const byAffiliate = Map.groupBy(inOrder, ({ affiliate_id }) => affiliate_id)
  const everyone = byAffiliate.get('*') ?? []
  return {
    plans: new Map(compiled.map((plan) => [plan.plan, plan])),
    assignments: new Map(
      [...byAffiliate].map(([affiliate, own]) => [affiliate, withEveryone(own, everyone)]),
    ),
  }
}

/** Returns an affiliate's own assignments and, before its first own, those of `*` (§16.7). */
export function withEveryone<A extends { readonly from: number | string }>(
  own: readonly A[] = [],
  everyone: readonly A[] = [],
): readonly A[] {
  const [first] = own
  return first ? [...everyone.filter(({ from }) => from < first.from), ...own] : everyone
}

/** Compiles a version of a plan. */
export function compileVersion(plan: string, version: number, terms: PlanTerms): Version {
  return {
    plan,
    version,
    effectiveFrom: dayNumber(terms.effective_from),
    currency: terms.currency,
    digits: minorDigits(terms.currency),
    period: terms.period,
    terms: terms.terms,
    rules: terms.rules.map(compileRule),
    source: terms,
  }
}

/** Returns the plans that an affiliate has on any day, in the order in which it gets them. */
export function assignedPlans(inForce: PlansInForce, affiliate: string): Plan[] {
  const names = new Set(assignmentsOf(inForce, affiliate).map(({ plan }) => plan))
  return [...names].flatMap((name) => inForce.plans.get(name) ?? [])
}

/** Returns the versions of a plan; none if there is no such plan. */
export const versionsOf = ({ plans }: PlansInForce, plan: string): readonly Version[] =>
  plans.get(plan)?.versions ?? []

/** Returns the version in force on a day, or the first if none was yet. */
export function versionOn({ versions, first }: Plan, day: number): Version {
  return versions.findLast(({ effectiveFrom }) => effectiveFrom <= day) ?? first
}

/**
 * Returns the version that governs a fact of the given day, of a customer with the given signup day;
 * null if no assignment does (§12 "Assignments", "Version").
 */
export function governingVersion(
  inForce: PlansInForce,
  affiliate: string,
  signupDay: number,
  day: number,
): Version | null {
  const assignment = assignmentFor(assignmentsOf(inForce, affiliate), signupDay, day)
  const plan = assignment && inForce.plans.get(assignment.plan)
  return assignment && plan ? versionFor(plan, Math.max(signupDay, assignment.from), day) : null
}

/** Returns the version of a plan for the given day; `start` decides under `terms: "signup"`. */
function versionFor(plan: Plan, start: number, day: number): Version {
  const { first, versions } = plan
  // Fast path: called once per fact; most plans have one version.
  if (versions.length === 1) return first
  return versionOn(plan, first.terms === 'signup' ? start : firstDayOf(day, first.period))
}

/** Returns the versions whose rules can have lines in a period that begins on the given day. */
export function versionsIn(plan: Plan, firstDay: number): readonly Version[] {
  const { first, versions } = plan
  return first.terms === 'signup' ? versions : [versionOn(plan, firstDay)]
}

/** Called once per fact. The assignments are in order, so the last that applies is the one. */
function assignmentFor(
  assignments: readonly Assignment[],
  signupDay: number,
  day: number,
): Assignment | null {
  let chosen = assignments[0]
  for (const one of assignments) {
    const replaces = one.customers === 'all' && one.from <= day
    if (one.from <= signupDay || replaces) chosen = one
  }
  return chosen && chosen.from <= day ? chosen : null
}

/** Returns the version by which an affiliate earns overrides of a period with this last day (§16.25). */
export function overrideVersion(
  inForce: PlansInForce,
  affiliate: string,
  lastDay: number,
): Version | null {
  const assignment = assignmentsOf(inForce, affiliate).findLast(({ from }) => from <= lastDay)
  const plan = assignment && inForce.plans.get(assignment.plan)
  return assignment && plan ? versionFor(plan, assignment.from, lastDay) : null
}

/** The key of an affiliate's plan. */
export const planKey = (affiliate: string, plan: string): string =>
  JSON.stringify([affiliate, plan])
