import { earningQueries } from '../../db/commission/fact-queries.ts'
import { customersOf } from '../drafts/customers-of.ts'
import { joinDependencies } from '../drafts/dependencies.ts'
import { customerTallier, openSettlement } from '../engine/account.ts'
import type { PlanResult } from '../engine/account-input.ts'
import type { Period } from '../engine/calendar.ts'
import type { Context } from '../engine/context.ts'
import { asOf, evaluateCustomer } from '../engine/evaluate.ts'
import type { Customer } from '../engine/facts.ts'
import { NO_STATE } from '../engine/state.ts'
import type { PeriodTallies } from '../engine/tallies.ts'
import { neededQueries } from '../facts/needed-queries.ts'
import { SIMULATION_LIMITS } from './limits.ts'
import type { Simulation } from './open-simulation.ts'

/** What some affiliates earn in the compared periods, under the versions in force and simulated. */
export interface SimulatedPage {
  readonly affiliates: readonly string[]
  readonly current: readonly PlanResult[]
  readonly simulated: readonly PlanResult[]
  /** The affiliate that depends on more facts than one request reads; null if none does. */
  readonly tooLarge: string | null
}

/** What the facts of some customers came to under the plans of a context. */
interface Tallied {
  readonly context: Context
  readonly tallies: ReadonlyMap<string, PeriodTallies>
}

/**
 * Computes the first of some affiliates: as many as depend on at most `maxFacts` facts, at least one,
 * or none and the first one as `tooLarge`.
 */
export async function computePage(
  simulation: Simulation,
  affiliates: readonly string[],
  maxFacts: number,
): Promise<SimulatedPage> {
  const { computation, current } = simulation
  const both = [current, computation.context].map(
    (context): Tallied => ({
      context,
      tallies: new Map(computation.range.periods.map(({ id }) => [id, new Map()])),
    }),
  )
  const found = await readWhileFew(simulation, affiliates, maxFacts, (customers) => {
    for (const one of both) tally(simulation, one, customers)
  })
  const [ofCurrent = [], ofSimulated = []] = both.map((one) => settle(simulation, one, found))
  const tooLarge = found.length === 0 ? (affiliates[0] ?? null) : null
  return { affiliates: found, current: ofCurrent, simulated: ofSimulated, tooLarge }
}

/** The affiliates that are read together after the first, second, fourth … ones. */
const MAX_GROUP = 64

/**
 * Reads the customers of affiliates, in growing groups, and returns those that were read whole. Facts
 * of a group that is not read whole belong to none of them.
 */
async function readWhileFew(
  { computation }: Simulation,
  affiliates: readonly string[],
  maxFacts: number,
  add: (customers: readonly Customer[]) => void,
): Promise<string[]> {
  const { source, range, context, dependenciesOf } = computation
  const queries = earningQueries(source.selection, range.days, source.settings.statusMembers)
  const isNeeded = neededQueries(source, context.tree, range.periods)
  const done: string[] = []
  const read = new Set<string>()
  const seen = new Set<string>()
  let facts = 0
  while (done.length < Math.min(affiliates.length, SIMULATION_LIMITS.affiliates)) {
    const size = Math.min(Math.max(1, done.length), MAX_GROUP)
    const end = Math.min(done.length + size, SIMULATION_LIMITS.affiliates)
    const group = affiliates.slice(done.length, end)
    const all = joinDependencies(group.map(dependenciesOf)).read
    const needed = [...all].filter((one) => !read.has(one))
    const found = needed.length > 0 ? customersOf(computation, needed, queries, isNeeded) : []
    for await (const customers of found) {
      const added = [...customers].filter(({ customer_id }) => !seen.has(customer_id))
      for (const customer of added) {
        seen.add(customer.customer_id)
        for (const { count } of customer.facts) facts += count
      }
      if (facts > maxFacts) return done
      add(added)
    }
    for (const one of needed) read.add(one)
    done.push(...group)
  }
  return done
}

/** Adds the facts of customers to the tallies of all periods. */
function tally(
  { computation }: Simulation,
  { context, tallies }: Tallied,
  customers: readonly Customer[],
): void {
  const evaluated = customers.map((one) => evaluateCustomer(context, one))
  for (const period of computation.range.periods) {
    const known = evaluated.map((one) => asOf(one, period.last))
    known.forEach(customerTallier({ ...context, period }, tallies.get(period.id) ?? new Map()))
  }
}

/**
 * Settles affiliates in the compared periods, as if nothing were approved or entered: what is closed
 * would hide what the version changes.
 */
function settle(
  { computation, compared }: Simulation,
  { context, tallies }: Tallied,
  affiliates: readonly string[],
): PlanResult[] {
  const { range, dependenciesOf } = computation
  const wanted = new Set(affiliates)
  const { settled } = joinDependencies(affiliates.map(dependenciesOf))
  const settlePeriod = openSettlement(
    {
      ...context,
      affiliates: [...settled].filter((one) => context.inForce.assignmentsOf(one).length > 0),
      firstDay: { month: range.firstDay, week: range.firstDay },
      stateOf: () => NO_STATE,
      booksOf: () => null,
    },
    ({ id }: Period): PeriodTallies => tallies.get(id) ?? new Map(),
  )
  return compared.flatMap(settlePeriod).filter(({ affiliate }) => wanted.has(affiliate))
}
