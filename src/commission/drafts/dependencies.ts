import type { Period } from '../engine/calendar.ts'
import { memoize } from '../engine/memoize.ts'
import type { Plan, PlansInForce } from '../engine/plans-in-force.ts'
import type { DatedTree } from '../facts/tree.ts'

/** What the statement of an affiliate depends on. */
export interface Dependencies {
  /** The affiliates whose lines are computed. */
  readonly settled: ReadonlySet<string>
  /** The affiliates whose customers' facts are read. */
  readonly read: ReadonlySet<string>
}

/**
 * Which affiliates below the rules of an affiliate's plans use. Level 1 is its direct
 * children.
 */
interface Reach {
  /** The levels at which it has overrides. */
  readonly levels: ReadonlySet<number>
  /** The levels at which affiliates below pay for its overrides. */
  readonly funded: ReadonlySet<number>
  /** Whether a tier measures all affiliates below. */
  readonly network: boolean
}

/**
 * Returns a function that finds what the statements of an affiliate depend on in some periods:
 *
 * - affiliates below, as far as its overrides and network tiers reach;
 * - uplines for whose overrides it pays, and the affiliates below them that these overrides count.
 */
export function dependencies(
  inForce: PlansInForce,
  tree: DatedTree,
  periods: readonly Period[],
): (affiliate: string) => Dependencies {
  const days = [...new Set(periods.map(({ last }) => tree.changeBefore(last)))]
  const reachOf = memoize((affiliate: string) => reachOfPlans(inForce, affiliate))
  const allBelow = memoize(
    (affiliate: string) => new Set(days.flatMap((day) => descend(tree, affiliate, day))),
  )
  const belowAt = (affiliate: string, levels: Iterable<number>): string[] =>
    [...levels].flatMap((level) => days.flatMap((day) => tree.below(affiliate, level, day)))

  const readFor = (affiliate: string): string[] => [
    affiliate,
    ...(reachOf(affiliate).network ? allBelow(affiliate) : []),
  ]
  const overridesOf = (upline: string): string[] => belowAt(upline, reachOf(upline).levels)
  const payers = (affiliate: string): string[] =>
    days.flatMap((day) =>
      tree.uplines(affiliate, day).filter((upline, index) => reachOf(upline).funded.has(index + 1)),
    )
  return (affiliate) => {
    const settled = new Set([affiliate, ...overridesOf(affiliate)])
    for (const upline of payers(affiliate)) {
      settled.add(upline)
      for (const below of overridesOf(upline)) settled.add(below)
    }
    return { settled, read: new Set([...settled].flatMap(readFor)) }
  }
}

function descend(tree: DatedTree, affiliate: string, day: number): string[] {
  const found: string[] = []
  for (let level = 1; ; level++) {
    const below = tree.below(affiliate, level, day)
    if (below.length === 0) return found
    for (const one of below) found.push(one)
  }
}

function reachOfPlans(inForce: PlansInForce, affiliate: string): Reach {
  const names = new Set(inForce.assignmentsOf(affiliate).map(({ plan }) => plan))
  const plans = [...names].flatMap((name): readonly Plan[] => {
    const plan = inForce.plans.get(name)
    return plan ? [plan] : []
  })
  const rules = plans.flatMap(({ versions }) => versions.flatMap((version) => version.rules))
  const overrides = rules.filter((rule) => rule.kind === 'override')
  return {
    levels: new Set(overrides.map(({ level }) => level)),
    funded: new Set(overrides.filter(({ downline }) => downline).map(({ level }) => level)),
    network: rules.some(({ tiers }) => tiers?.network),
  }
}

/** Joins the dependencies of several affiliates. */
export function joinDependencies(all: Iterable<Dependencies>): Dependencies {
  const settled = new Set<string>()
  const read = new Set<string>()
  for (const one of all) {
    for (const affiliate of one.settled) settled.add(affiliate)
    for (const affiliate of one.read) read.add(affiliate)
  }
  return { settled, read }
}
