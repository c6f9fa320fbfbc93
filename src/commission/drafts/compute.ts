import { earningQueries } from '../../db/commission/fact-queries.ts'
import { customerTallier, openSettlement } from '../engine/account.ts'
import type { SettlementInput } from '../engine/account-input.ts'
import type { BooksOf } from '../engine/books.ts'
import type { Period } from '../engine/calendar.ts'
import { asOf, evaluateCustomer } from '../engine/evaluate.ts'
import type { EvaluatedCustomer } from '../engine/evaluated.ts'
import type { Settlement } from '../engine/explain-input.ts'
import { compareText, type Fact } from '../engine/facts.ts'
import type { OnceState } from '../engine/once.ts'
import { NO_STATE } from '../engine/state.ts'
import type { PeriodTallies } from '../engine/tallies.ts'
import { type AccountBeginnings, beginningsOf } from '../facts/days.ts'
import { factWeightByDay } from '../facts/kept-costs.ts'
import { readKeptDaysInUse } from '../facts/kept-days-in-use.ts'
import { neededQueries } from '../facts/needed-queries.ts'
import { type AccountSource, openContext } from '../facts/source.ts'
import { datedTree } from '../facts/tree.ts'
import { yieldAfterFacts } from '../facts/yield-after-facts.ts'
import { readBooks } from './books.ts'
import type { Computation, ComputedPeriod } from './computation.ts'
import { customersOf } from './customers-of.ts'
import { dependencies, joinDependencies } from './dependencies.ts'
import { KEPT_SHARE } from './limits.ts'
import { findRange } from './range.ts'
import { type RateView, rateViews } from './rate-views.ts'

/** Thrown if a computation reads more facts than its caller allows. */
export class TooManyFacts extends Error {}

/**
 * Prepares the computation of a period for any affiliates: finds the days with facts and loads the rates.
 *
 * @param run The run that keeps facts; null: no run.
 * @param beginnings Where the account's records and books begin; absent: it is read.
 */
export async function openComputation(
  source: AccountSource,
  period: Period,
  run: string | null = null,
  beginnings?: AccountBeginnings,
): Promise<Computation> {
  const range = findRange(source, period, beginnings ?? (await beginningsOf(source)))
  const tree = datedTree(source.parents)
  const [context, kept] = await Promise.all([
    openContext(source, tree, range.rateDays),
    readKeptDaysInUse(source, range, run),
  ])
  const dependenciesOf = dependencies(source.inForce, tree, range.periods)
  return { source, range, context, dependenciesOf, kept }
}

/**
 * Computes affiliates in all periods of the requested period's kind up to it; the last element is the
 * requested period. Holds in memory the facts of a few customers at a time, and the totals of all.
 *
 * @param maxFacts The most facts to read.
 * @throws TooManyFacts
 */
export async function computeAffiliates(
  computation: Computation,
  affiliates: readonly string[],
  maxFacts: number,
): Promise<ComputedPeriod[]> {
  const { range, source } = computation
  const books = await readBooks(source, range, affiliates)
  const views = await rateViews(computation, books, affiliates)
  const settlements: (Settlement & Pick<RateView, 'covers'>)[] = []
  for (const { wanted, context, covers } of views) {
    const view = { ...computation, context }
    settlements.push({
      covers,
      ...(await settleAffiliates(view, wanted, maxFacts, books.booksOf, withoutEvidence)),
    })
  }
  return range.periods
    .filter(({ kind }) => kind === range.period.kind)
    .map((period) => ({
      period,
      results: settlements
        .flatMap(({ settle, covers }) => settle(period).filter(covers))
        .sort(
          (a, b) => compareText(a.affiliate, b.affiliate) || compareText(a.plan.plan, b.plan.plan),
        ),
    }))
}

const NO_FACTS: ReadonlySet<Fact> = new Set()

/**
 * Drops the facts by which a customer qualified: only explanations use them, and they fill the
 * memory.
 */
function withoutEvidence(evaluated: EvaluatedCustomer): EvaluatedCustomer {
  if (evaluated.qualified.size === 0) return evaluated
  const qualified = new Map<string, OnceState>()
  for (const [rule, state] of evaluated.qualified) {
    qualified.set(rule, { ...state, used: NO_FACTS, progress: [] })
  }
  return { ...evaluated, qualified }
}

/**
 * Reads the facts on which affiliates depend, and prepares the settlement of any period of the range.
 *
 * @param maxFacts The most facts to read.
 * @param keep Is called for each customer, and returns what must stay in memory of the customer until
 * the settlement; absent: everything.
 * @throws TooManyFacts
 */
export async function settleAffiliates(
  computation: Computation,
  affiliates: readonly string[],
  maxFacts: number,
  booksOf: BooksOf,
  keep?: (evaluated: EvaluatedCustomer) => EvaluatedCustomer,
): Promise<Settlement> {
  const { source, range, context, dependenciesOf } = computation
  const { settled, read } = joinDependencies(affiliates.map(dependenciesOf))
  const tallies = await tallyFacts(computation, [...read], maxFacts, keep)
  const wanted = new Set(affiliates)
  const isAssigned = (one: string) => source.inForce.assignmentsOf(one).length > 0
  const input: SettlementInput = {
    ...context,
    affiliates: [...settled].filter((one) => wanted.has(one) || isAssigned(one)),
    firstDay: { month: range.firstDay, week: range.firstDay },
    stateOf: () => NO_STATE,
    booksOf,
  }
  const talliesIn = ({ id }: Period): PeriodTallies => tallies.get(id) ?? new Map()
  return { input, settle: openSettlement(input, talliesIn), tallies: talliesIn }
}

/**
 * Reads the customers of affiliates and adds their facts to the tallies of each period, by period id.
 *
 * @throws TooManyFacts
 */
async function tallyFacts(
  computation: Computation,
  affiliates: readonly string[],
  maxFacts: number,
  keep?: (evaluated: EvaluatedCustomer) => EvaluatedCustomer,
): Promise<Map<string, PeriodTallies>> {
  const { source, range, context, kept } = computation
  const tallies = new Map(range.periods.map(({ id }) => [id, new Map() as PeriodTallies]))
  const add = range.periods.map((period) => {
    const addTo = customerTallier({ ...context, period }, tallies.get(period.id) ?? new Map())
    return (evaluated: EvaluatedCustomer) => addTo(asOf(evaluated, period.last))
  })
  const queries = earningQueries(source.selection, range.days, source.settings.statusMembers)
  const isNeeded = neededQueries(source, context.tree, range.periods)
  const weightOf = factWeightByDay(kept, keep === undefined ? 1 : KEPT_SHARE)
  let facts = 0
  const yieldAfter = yieldAfterFacts()
  for await (const customers of customersOf(computation, affiliates, queries, isNeeded, kept)) {
    for (const customer of customers) {
      for (const { count, day } of customer.facts) facts += count * weightOf(day)
      if (facts > maxFacts) throw new TooManyFacts()
      const pause = yieldAfter(customer.facts.length)
      if (pause) await pause
      const own = evaluateCustomer(context, customer)
      const evaluated = keep ? keep(own) : own
      for (const addTo of add) addTo(evaluated)
    }
  }
  return tallies
}
