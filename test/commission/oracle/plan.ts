import type { World } from '../world.ts'
import { firstDay, type Kind, periodOf } from './calendar.ts'

// The JSON of a plan, as §12 describes it, and the plan and version that govern a fact.

export interface Conditions {
  [list: string]: string[] | { min?: string; max?: string } | undefined
}

/** A term of a base. It has one of `transactions`, `activity`, `event`, `of` and `fixed`. */
export interface Term {
  transactions?: string[]
  subtypes?: string[]
  activity?: string
  event?: string
  kpi?: string
  of?: string[]
  fixed?: string
  times?: string
  name?: string
  when?: Conditions
}

/** The facts that a `count` names, or whose field a unit adds up. */
export interface Unit {
  activity?: string
  event?: string
  kpi?: string
  transactions?: string[]
  count?: { transactions?: string[]; event?: string }
}

export interface Qualify {
  sum?: Term[]
  count?: { transactions?: string[]; event?: string; activity?: string }
  min?: string | number
  within_days?: number
  at?: 'first' | 'end'
  customer?: Conditions
}

export interface Step {
  from: string
  amount?: string
  percent?: string
}

export interface Tiers {
  mode: 'whole' | 'slice'
  steps: Step[]
  by?: { once?: string; customers?: 'active'; base?: Term[] }
  over?: 'own' | 'network'
  window?: 'period' | 'quarter' | 'lifetime'
}

export interface Rule {
  id: string
  kind: 'once' | 'share' | 'unit' | 'override'
  when?: Conditions
  months?: number
  amount?: string
  percent?: string
  tiers?: Tiers
  max?: string
  max_per_customer?: string
  trigger?: {
    transactions?: string[]
    event?: string
    kpi?: string
    signup?: boolean
    min?: string
  }
  qualify?: Qualify[]
  min_amount?: string
  max_amount?: string
  max_count?: number
  requalify?: boolean
  grace_hours?: number
  void_by?: { terms: Term[]; within_days: number }
  base?: Term[]
  per?: 'affiliate' | 'customer' | 'product'
  negative?: 'offset' | 'zero' | 'carry'
  fence?: { customer: string; affiliate: string }
  recoups?: string
  unit?: Unit
  each?: string
  level?: number
  of?: { lines?: string[]; base?: Term[]; unit?: Unit; once?: string }
  funded_by?: 'operator' | 'downline'
}

export interface Version {
  plan: string
  version: number
  currency: string
  period: Kind
  effective_from: string
  terms: 'signup' | 'current'
  negative: 'carry' | 'zero'
  minimum_payout: string
  rules: Rule[]
}

/** Returns the versions of a plan in order of `effective_from`. */
export function versionsOf(world: World, plan: string): Version[] {
  const found = world.plans.find((one) => one.plan === plan)
  if (!found) throw new Error(`no plan ${plan}`)
  return found.versions
    .map(({ version, terms }) => ({
      ...(terms as Omit<Version, 'plan' | 'version'>),
      plan,
      version,
    }))
    .sort((a, b) => (a.effective_from < b.effective_from ? -1 : 1))
}

/** Returns the version in force on a day: before the first version, the first. */
export const inForce = (versions: Version[], day: string): Version =>
  versions.findLast((one) => one.effective_from <= day) ?? versions[0]!

export type Assignment = World['assignments'][number]

/** Returns the affiliate's own assignments, and before its first own `from` those of `*`. */
export function assignmentsOf(world: World, affiliate: string): Assignment[] {
  const byFrom = (a: Assignment, b: Assignment) => (a.from < b.from ? -1 : 1)
  const own = world.assignments.filter((one) => one.affiliate_id === affiliate).sort(byFrom)
  const first = own[0]?.from
  const common = world.assignments.filter(
    (one) => one.affiliate_id === '*' && (first === undefined || one.from < first),
  )
  return [...common.sort(byFrom), ...own]
}

/** Returns the assignment for a fact of a day, or null: `no_plan`. */
export function assignmentFor(
  assignments: Assignment[],
  signupDay: string,
  day: string,
): Assignment | null {
  const base = assignments.findLast((one) => one.from <= signupDay) ?? assignments[0]
  if (!base) return null
  const later = assignments.findLast(
    (one) => one.from > base.from && one.customers === 'all' && one.from <= day,
  )
  const result = later ?? base
  return result.from > day ? null : result
}

/** Returns the version that governs a fact of a day under an assignment. */
export function governing(
  versions: Version[],
  assignment: Assignment,
  signupDay: string,
  day: string,
): Version {
  const { terms, period } = versions[0]!
  if (terms === 'current') return inForce(versions, firstDay(periodOf(period, day)))
  return inForce(versions, signupDay > assignment.from ? signupDay : assignment.from)
}
