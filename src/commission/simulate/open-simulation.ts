import type { Computation } from '../drafts/computation.ts'
import { openComputation } from '../drafts/compute.ts'
import { type Period, periodOf } from '../engine/calendar.ts'
import type { Context } from '../engine/context.ts'
import { compareText } from '../engine/facts.ts'
import type { PlanTerms } from '../engine/plan.ts'
import type { Plan, PlansInForce } from '../engine/plans-in-force.ts'
import { replaceVersions } from '../engine/simulation.ts'
import type { AccountBeginnings } from '../facts/days.ts'
import { selectFacts } from '../facts/select-facts.ts'
import type { AccountSource } from '../facts/source.ts'
import { minorDigits } from '../minor-digits.ts'

/** A version of a plan beside those in force, ready to be computed for any affiliates. */
export interface Simulation {
  /** That of the simulated version. It reads all that the versions in force need, too. */
  readonly computation: Computation
  /** Under the versions in force. */
  readonly current: Context
  /** The periods whose statements are compared. */
  readonly compared: readonly Period[]
  /** The affiliates whose statements can depend on the plan, in order of their ids. */
  readonly affiliates: readonly string[]
}

/**
 * Prepares the simulation of a version of a plan from the first of some periods on.
 *
 * @param beginnings Where the account's records and books begin; absent: they are read.
 */
export async function openSimulation(
  source: AccountSource,
  plan: Plan,
  terms: PlanTerms,
  periods: readonly [Period, ...Period[]],
  beginnings?: AccountBeginnings,
): Promise<Simulation> {
  const [first] = periods
  const last = periods.at(-1) ?? first
  const inForce = replaceVersions(source.inForce, plan, terms, first.first, minorDigits)
  const selection = selectFacts(inForce, source.settings)
  const settings = { ...source.settings, summed: selection }
  const computation = await openComputation(
    { ...source, inForce, selection, settings },
    lastToEnd(source, last),
    null,
    beginnings,
  )
  return {
    computation,
    current: { ...computation.context, inForce: source.inForce },
    compared: computation.range.periods.filter((one) => isCompared(one, first, last)),
    affiliates: affiliatesOf(computation, plan.plan),
  }
}

/** Returns the period that ends last, of those of all kinds of the account that overlap the last one. */
function lastToEnd({ periodKinds }: AccountSource, last: Period): Period {
  const all = periodKinds.map((kind) => periodOf(last.last, kind))
  return all.reduce((latest, one) => (one.last > latest.last ? one : latest), last)
}

/** Whether a period is one of those asked for, or of the other kind and overlaps them. */
const isCompared = (one: Period, first: Period, last: Period): boolean =>
  one.last >= first.first && one.first <= last.last

/** Returns the configured affiliates that have the plan, or whose statements depend on others that do. */
function affiliatesOf({ source, dependenciesOf }: Computation, plan: string): string[] {
  const { inForce, parents } = source
  const isAssigned = (affiliate: string): boolean =>
    inForce.assignmentsOf(affiliate).some((one) => one.plan === plan)
  const concernsAll = sharesOnce(inForce, plan)
  return parents
    .map(({ affiliate_id }) => affiliate_id)
    .filter((affiliate) => {
      if (inForce.assignmentsOf(affiliate).length === 0) return false
      if (concernsAll || isAssigned(affiliate)) return true
      const { settled, read } = dependenciesOf(affiliate)
      return [...settled, ...read].some(isAssigned)
    })
    .sort(compareText)
}

/**
 * Whether a plan has a `once` rule with the id of one of another plan: then customers who qualify under
 * the one no longer qualify under the other.
 */
function sharesOnce({ plans }: PlansInForce, name: string): boolean {
  const idsOf = ({ versions }: Plan): string[] =>
    versions.flatMap(({ rules }) => rules.flatMap(({ kind, id }) => (kind === 'once' ? [id] : [])))
  const own = new Set([...plans.values()].flatMap((one) => (one.plan === name ? idsOf(one) : [])))
  return [...plans.values()].some(
    (one) => one.plan !== name && idsOf(one).some((id) => own.has(id)),
  )
}
