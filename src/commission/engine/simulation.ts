import { stateKey } from '../modifiers/modifier.ts'
import type { Period } from './calendar.ts'
import { add, amountAt, type Decimal, ZERO } from './decimal.ts'
import { memoize } from './memoize.ts'
import type { PlanTerms } from './plan.ts'
import { compileVersion, type Plan, type PlansInForce } from './plans-in-force.ts'
import { closeState, openState, type PlanState } from './state.ts'

/**
 * Returns the plans in force if a version governs all facts of a plan from a day on, whatever the plan's
 * `terms`. The stored versions govern the days before. The number of the version is the first that none
 * of them has.
 *
 * @param from The first day of a period.
 */
export function replaceVersions(
  inForce: PlansInForce,
  plan: Plan,
  terms: PlanTerms,
  from: number,
  minorDigits: (currency: string) => number,
): PlansInForce {
  const number = Math.max(...plan.versions.map((one) => one.version)) + 1
  const compiled = compileVersion(plan.plan, number, terms, minorDigits)
  // It alone governs each period, so what is carried belongs to the rule id, as under `current`.
  const version = { ...compiled, effectiveFrom: from, terms: 'current' } as const
  const simulated: Plan = {
    plan: plan.plan,
    versions: [...plan.versions, version],
    first: plan.first,
    replacement: { from, version, replaced: plan },
  }
  return { ...inForce, plans: new Map(inForce.plans).set(plan.plan, simulated) }
}

/** Returns a plan that is not stored, with one version. */
export function planOf(
  plan: string,
  terms: PlanTerms,
  minorDigits: (currency: string) => number,
): Plan {
  const first = compileVersion(plan, 1, terms, minorDigits)
  return { plan, versions: [first], first }
}

/** Returns the plans in force if a plan is assigned to every affiliate, with all customers, from a day on. */
export function assignToAll(inForce: PlansInForce, plan: Plan, from: number): PlansInForce {
  const assigned = { affiliate_id: '*', plan: plan.plan, from, customers: 'all' } as const
  return {
    plans: new Map(inForce.plans).set(plan.plan, plan),
    assignmentsOf: memoize((affiliate: string) => [
      ...inForce.assignmentsOf(affiliate).filter((one) => one.from < from),
      assigned,
    ]),
  }
}

/** Returns the state with which a period starts: that of all versions together once they are replaced. */
export function stateFor({ replacement }: Plan, { first }: Period, state: PlanState): PlanState {
  return replacement && first >= replacement.from ? joinVersions(state) : state
}

/** Adds up what the versions of a plan left, by rule id and scope. */
function joinVersions(state: PlanState): PlanState {
  const open = openState(state)
  const fences = new Map<string, Map<string, Decimal>>()
  for (const [key, toPayBack] of open.fences) {
    const joined = fences.get(keyOfAll(key)) ?? new Map<string, Decimal>()
    fences.set(keyOfAll(key), joined)
    for (const [customer, amount] of toPayBack) addTo(joined, customer, amount)
  }
  const { carries, deficits } = open
  const joined = { carries: joinKeys(carries), deficits: joinKeys(deficits), fences }
  return { ...closeState(joined, ZERO), closing: state.closing }
}

function joinKeys(amounts: ReadonlyMap<string, Decimal>): Map<string, Decimal> {
  const joined = new Map<string, Decimal>()
  for (const [key, amount] of amounts) addTo(joined, keyOfAll(key), amount)
  return joined
}

function addTo(sums: Map<string, Decimal>, key: string, amount: Decimal): void {
  sums.set(key, add(amountAt(sums, key), amount))
}

/** Returns the key that a carry, deficit or fence of any version has under `current`. */
function keyOfAll(key: string): string {
  const [rule, version, scope] = JSON.parse(key)
  return stateKey(rule, { terms: 'current', version }, scope)
}
