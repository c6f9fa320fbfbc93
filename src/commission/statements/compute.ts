import { type ClosedState, type KeptFacts, keepFacts } from '../db/closed-states.ts'
import { findCustomersOf } from '../db/customers-of.ts'
import { mapFactTables } from '../db/fact-tables.ts'
import {
  type AccountBeginnings,
  customersPerBatch,
  type FactDays,
  type FactQuery,
  factQueries,
  readBeginnings,
} from '../db/facts.ts'
import { loadRates, readLastDays } from '../db/rates.ts'
import { openSettlement, type Settlement } from '../engine/account.ts'
import type { PlanResult } from '../engine/account-input.ts'
import { type BooksOf, openIn } from '../engine/books.ts'
import { type Period, periodOf } from '../engine/calendar.ts'
import type { Context } from '../engine/context.ts'
import {
  closedRateFinder,
  type LoadedRates,
  type RateFinder,
  rateFinder,
} from '../engine/convert.ts'
import { asOf, evaluateCustomer } from '../engine/customer.ts'
import { type Customer, compareText } from '../engine/facts.ts'
import type { EvaluatedCustomer } from '../engine/judge.ts'
import { memoize } from '../engine/memoize.ts'
import { NOTHING_KNOWN, type OnceState } from '../engine/once.ts'
import { type Plan, type PlansInForce, planKey } from '../engine/plans-in-force.ts'
import { customersIn, newSums, type PeriodSums } from '../engine/sums.ts'
import { type AccountBooks, type Closing, readBooks } from './books.ts'
import { SETTLED_LIMITS, type STEP_LIMITS } from './limits.ts'
import {
  type Dependencies,
  type Forms,
  findOpenings,
  formsOf,
  fromFirstRecord,
  type Opening,
} from './opening.ts'
import { type ComputedRange, findRange } from './range.ts'
import {
  type EarlierFacts,
  type IsNeeded,
  keptFactsOf,
  neededQueries,
  type ReadCustomer,
  readCustomers,
  yieldAfterFacts,
} from './read-customers.ts'
import { type AccountSource, contextOf, ratesOfFinder, withinDays } from './source.ts'
import { type DatedTree, datedTree } from './tree.ts'

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

/** What affiliates earned in a period. */
export interface ComputedPeriod {
  readonly period: Period
  /** In order of affiliate and plan. */
  readonly results: readonly PlanResult[]
}

/** A computation of an account, ready for any affiliates of it. */
export interface Computation extends Forms {
  readonly source: AccountSource
  readonly range: ComputedRange
  readonly context: Context
  /** The rates of its days, also those that were replaced. */
  readonly rates: LoadedRates
  readonly dependenciesOf: ReturnType<typeof dependencies>
  /** Whether it begins with what closed periods left; otherwise with the first record, with the same result. */
  readonly usesStates: boolean
  /** From where a run reads marks of changes, which keeps what `once` rules need; null: nothing is kept. */
  readonly position: number | null
  /** The affiliates and closed periods (`explainedKey`) whose lines are explained as those of open ones, which takes memory. */
  readonly explained: ReadonlySet<string>
}

/** Returns the key of an affiliate and a period. */
export const explainedKey = (affiliate: string, period: string): string =>
  JSON.stringify([affiliate, period])

/**
 * Yields the customers that these affiliates ever had, a few at a time; each customer once. Each batch can be iterated
 * only once.
 *
 * @param affiliates Null: all customers.
 * @param queries The queries that read their facts.
 * @param earlier What is read of the days before these queries.
 */
export async function* customersOf(
  source: AccountSource,
  affiliates: readonly string[] | null,
  queries: readonly FactQuery[],
  isNeeded?: IsNeeded,
  earlier?: EarlierFacts,
): AsyncGenerator<Iterable<ReadCustomer>> {
  const size = customersPerBatch(queries)
  for await (const { ids, share } of findCustomersOf(source, source.account.id, affiliates, size)) {
    yield await readCustomers(source, queries, ids, share, isNeeded, earlier)
  }
}

/**
 * Affiliates and plans to which the same rates apply: in closed periods the rates that were known when
 * the period was closed, in open periods the current ones (§16.2).
 */
export interface RateView {
  /** The affiliates that have a result in the view. */
  readonly wanted: readonly string[]
  readonly context: Context
  /** Whether the rates of the view apply to a result. */
  readonly covers: (result: Pick<PlanResult, 'affiliate' | 'plan'>) => boolean
}

/**
 * Returns the views of some affiliates. Usually there is only one: there are several only if rates of
 * closed days changed after the closing.
 */
async function rateViews(
  computation: Computation,
  { closingsOf }: Pick<AccountBooks, 'closingsOf'>,
  affiliates: readonly string[],
): Promise<RateView[]> {
  const { source, context, range, rates } = computation
  const keys = affiliates.flatMap((affiliate) =>
    [...source.inForce.plans.keys()].map((plan) => ({ affiliate, plan })),
  )
  const changes = changesIn(
    rates,
    keys.flatMap(({ affiliate, plan }) => closingsOf(affiliate, plan)),
  )
  if (changes.length === 0) {
    return [{ wanted: affiliates, context, covers: coversAffiliates(affiliates) }]
  }
  const lastDayAt = await readLastDays(source.directory)
  const now = rateFinder(rates)
  /** Returns the rates that were known at a time, in milliseconds. */
  const finderAt = memoize((at: number): RateFinder => {
    const known = { rows: rates.rows, lastDay: lastDayAt(at) }
    return closedRateFinder(rateFinder(known, at), now)
  })
  /** Returns closings as of the last moment at which the rates were those of their own: none if they still are. */
  const outdated = (closings: readonly Closing[]): Closing[] =>
    closings.flatMap(({ last, at }) => {
      const next = changes.find((change) => change > at)
      return next === undefined ? [] : [{ last, at: next - 1 }]
    })
  const groups = Map.groupBy(keys, ({ affiliate, plan }) =>
    JSON.stringify(outdated(closingsOf(affiliate, plan))),
  )
  return [...groups].map(([text, own]) => {
    const members = new Set(own.map(({ affiliate, plan }) => planKey(affiliate, plan)))
    const closings: readonly Closing[] = JSON.parse(text)
    const find: RateFinder = (currency, day) => {
      const at = closedAt(closings, day)
      return (at === Infinity ? now : finderAt(at))(currency, day)
    }
    return {
      wanted: [...new Set(own.map(({ affiliate }) => affiliate))],
      context: { ...context, ...ratesOfFinder(withinDays(find, range.rateDays)) },
      covers: ({ affiliate, plan }) => members.has(planKey(affiliate, plan.plan)),
    }
  })
}

/**
 * Returns the times at which rates of closed days became known or were corrected after these days were closed, in
 * order. A rate may apply to the 7 days after its own, which were closed no earlier.
 */
function changesIn({ rows }: LoadedRates, closings: readonly Closing[]): number[] {
  const late = rows.filter(({ day, known_from }) => known_from > closedAt(closings, day))
  return [...new Set(late.map(({ known_from }) => known_from))].sort((a, b) => a - b)
}

function coversAffiliates(affiliates: readonly string[]): RateView['covers'] {
  const wanted = new Set(affiliates)
  return ({ affiliate }) => wanted.has(affiliate)
}

/** Returns when a day was closed first. */
const closedAt = (closings: readonly Closing[], day: number): number =>
  closings.reduce((first, { last, at }) => (last >= day ? Math.min(first, at) : first), Infinity)

/** Returns a computation with the rates that apply to one affiliate and plan. */
export async function viewOf(
  computation: Computation,
  books: Pick<AccountBooks, 'closingsOf'>,
  affiliate: string,
  plan: string,
): Promise<Computation> {
  const views = await rateViews(computation, books, [affiliate])
  const { source } = computation
  const found = source.inForce.plans.get(plan)
  const view = views.find(({ covers }) => found && covers({ affiliate, plan: found }))
  return view ? { ...computation, context: view.context } : computation
}

/** Thrown if a computation reads more facts than its caller allows. */
export class TooManyFacts extends Error {}

/**
 * Prepares the computation of a period for any affiliates: finds the days with facts and on whom affiliates depend, and
 * loads rates.
 *
 * @param beginnings Where the account's records and books begin; absent: it is read.
 */
export async function openComputation(
  source: AccountSource,
  period: Period,
  beginnings?: AccountBeginnings,
): Promise<Computation> {
  const range = findRange(
    source,
    period,
    beginnings ?? (await readBeginnings(source.db, source.account.id)),
  )
  const tree = datedTree(source.parents)
  const rates = await loadRates(source.directory, range.rateDays)
  const context = contextOf(source, tree, rates, range.rateDays)
  return {
    source,
    range,
    context,
    rates,
    dependenciesOf: dependencies(source.inForce, tree, range.periods),
    ...formsOf(source, context),
    usesStates: true,
    position: null,
    explained: new Set(),
  }
}

/** What affiliates earned in some periods, and what the closed ones of them leave. */
interface Results {
  readonly periods: readonly ComputedPeriod[]
  readonly closed: readonly ClosedState[]
}

/** The day of the first fact and the signup of a customer with facts before it, and the affiliates. */
interface EarlyCustomer {
  readonly first: number
  readonly signup: number
  readonly owners: readonly string[]
}

/** What the facts of affiliates come to, from which the results of any of them are settled. */
export interface Computed extends Pick<AccountBooks, 'settledOf'> {
  readonly resultsOf: (affiliates: readonly string[]) => Promise<Results>
  /** The affiliates in parts whose results fit into memory together. */
  readonly parts: readonly (readonly string[])[]
  /** The customers who have facts before their signup, among the facts that were read. */
  readonly early: readonly EarlyCustomer[]
}

/**
 * Computes affiliates in the open periods of the requested period's kind up to it, and in those closed ones whose stored
 * states do not hold; the last element is the requested period. Holds in memory the facts of a few customers at a time,
 * the totals of all, and the lines of the affiliates whose results are asked for.
 *
 * @param maxFacts The most facts to read.
 * @throws TooManyFacts
 */
export async function computeAffiliates(
  computation: Computation,
  affiliates: readonly string[],
  maxFacts: number,
): Promise<Computed> {
  const { range, formOf } = computation
  const { booksOf, settledOf, areKept, begun } = await beginnings(computation, affiliates)
  const summed: (AffiliateSettlement & Pick<RateView, 'covers'>)[] = []
  let facts = 0
  for (const { view, opening } of begun) {
    const own = new Set(opening.affiliates)
    const context = { ...computation, context: view.context }
    const settled = await settleAffiliates(context, opening, maxFacts - facts, booksOf)
    facts += settled.facts
    const covers: RateView['covers'] = (one) => own.has(one.affiliate) && view.covers(one)
    summed.push({ ...settled, covers })
  }
  const ofKind = range.periods.filter(({ kind }) => kind === range.period.kind)
  const resultsOf = async (some: readonly string[]): Promise<Results> => {
    const wanted = new Set(some)
    const settlements = summed.map(({ settleFor, covers }) => ({
      settle: settleFor(some),
      covers,
    }))
    const periods = ofKind.map((period) => ({
      period,
      results: settlements
        .flatMap(({ settle, covers }) => settle(period).filter(covers))
        .filter(({ affiliate }) => wanted.has(affiliate))
        .sort(
          (a, b) => compareText(a.affiliate, b.affiliate) || compareText(a.plan.plan, b.plan.plan),
        ),
    }))
    return { periods, closed: areKept ? await statesOf(formOf, periods, summed) : [] }
  }
  const linesOf = (affiliate: string) =>
    summed.reduce((sum, one) => sum + one.customersOf(affiliate), 0)
  const parts = divide(computation, affiliates, linesOf, SETTLED_LIMITS)
  return { resultsOf, parts, settledOf, early: summed.flatMap((one) => one.early) }
}

/** Divides affiliates, in their order, into parts within limits. What several of a part depend on counts once. */
export function divide(
  { dependenciesOf }: Pick<Computation, 'dependenciesOf'>,
  affiliates: readonly string[],
  customersOf: (affiliate: string) => number,
  most: typeof STEP_LIMITS,
): string[][] {
  const parts: string[][] = []
  let read = new Set<string>()
  let customers = 0
  for (const affiliate of affiliates) {
    const { read: needed } = dependenciesOf(affiliate)
    const added = (to: ReadonlySet<string>) =>
      [...needed].reduce((sum, one) => (to.has(one) ? sum : sum + customersOf(one)), 0)
    const more = added(read)
    const part = parts.at(-1)
    if (part && customers + more <= most.customers && part.length < most.affiliates) {
      part.push(affiliate)
      customers += more
    } else {
      parts.push([affiliate])
      read = new Set()
      customers = added(read)
    }
    for (const one of needed) read.add(one)
  }
  return parts
}

/** Finds from what affiliates start. Where they see other rates of closed days, all of them start from the first record. */
export async function beginnings(computation: Computation, affiliates: readonly string[]) {
  const { source, range, context, usesStates } = computation
  const books = await readBooks(source, range, affiliates)
  const views = await rateViews(computation, books, affiliates)
  const areKept = views.every((view) => view.context === context)
  const begun: { view: RateView; opening: Opening }[] = []
  for (const view of views) {
    const openings =
      areKept && usesStates
        ? await findOpenings({ ...computation, booksOf: books.booksOf }, view.wanted)
        : [fromFirstRecord(view.wanted)]
    begun.push(...openings.map((opening) => ({ view, opening })))
  }
  return { ...books, areKept, begun }
}

/** Whether the lines of an affiliate and plan are explained by day, and by the records of a qualification. */
type IsExplained = (period: Period) => (affiliate: string, plan: string) => boolean

/** Writes how a customer qualified if the line of it is explained, and drops the facts: they fill the memory. */
function withoutFacts(evaluated: EvaluatedCustomer, isExplained: IsExplained): EvaluatedCustomer {
  if (evaluated.qualified.size === 0) return evaluated
  const qualified = new Map<string, OnceState>()
  for (const [rule, state] of evaluated.qualified) {
    const { version, affiliate, day } = state
    const isOfLine = isExplained(periodOf(day, version.period))(affiliate ?? '', version.plan)
    const text = isOfLine ? JSON.stringify(state.evidence()) : 'null'
    const evidence: OnceState['evidence'] = () => JSON.parse(text)
    const { used, voided, progress } = NOTHING_KNOWN
    qualified.set(rule, { ...state, used, voided, progress, evidence })
  }
  return { ...evaluated, qualified }
}

/** The settlement of some affiliates. */
interface AffiliateSettlement extends Pick<Summed, 'facts' | 'early'> {
  /** Prepares the settlement of some of them. */
  readonly settleFor: (affiliates: readonly string[]) => Settlement['settle']
  /** Returns of how many customers something is known apart: a line is made for about as many. */
  readonly customersOf: (affiliate: string) => number
}

/** Reads the facts on which the affiliates of an opening depend, and prepares the settlement of the periods after it. */
export async function settleAffiliates(
  computation: Computation,
  opening: Opening,
  maxFacts: number,
  booksOf: BooksOf,
): Promise<AffiliateSettlement> {
  const { source, range, context, dependenciesOf } = computation
  const { affiliates, stateOf, last } = opening
  const { read } = joinDependencies(affiliates.map(dependenciesOf))
  const periods = range.periods.filter(({ last }) => last > opening.last)
  const firstDay = Math.max(range.firstDay, opening.last + 1)
  const begun = {
    ...computation,
    range: {
      ...range,
      firstDay,
      periods,
      days: daysWithin(range, last + 1, Number.POSITIVE_INFINITY),
    },
  }
  const { selection, settings } = source
  const queries = factQueries(
    selection,
    daysWithin(range, Number.NEGATIVE_INFINITY, last),
    settings.statusMembers,
  )
  const earlier = { ...opening, form: await computation.form, queries }
  const { sums, ...summed } = await sumFacts(begun, [...read], maxFacts, booksOf, earlier)
  const isAssigned = (one: string) => source.inForce.assignmentsOf(one).length > 0
  const begin = new Set(affiliates)
  const settleFor = (some: readonly string[]): Settlement['settle'] => {
    const wanted = new Set(some.filter((one) => begin.has(one)))
    const { settled } = joinDependencies([...wanted].map(dependenciesOf))
    const { settle } = openSettlement(
      {
        ...context,
        affiliates: [...settled].filter((one) => wanted.has(one) || isAssigned(one)),
        firstDay: { month: firstDay, week: firstDay },
        stateOf,
        booksOf,
      },
      ({ id }) => sums.get(id) ?? new Map(),
    )
    return (period) => (period.last > opening.last ? settle(period) : [])
  }
  const customersOf = (affiliate: string) =>
    [...sums.values()].reduce((sum, one) => sum + customersIn(one.get(affiliate)), 0)
  return { ...summed, settleFor, customersOf }
}

/** Returns the days from `first` to `last` of which facts are read. Sums are read only behind an opening. */
function daysWithin({ days }: ComputedRange, first: number, last: number): FactDays {
  const isWithin = (day: number): boolean => first <= day && day <= last
  return mapFactTables(days, ({ single, summed }) => ({
    single: single.filter(isWithin),
    summed: last === Number.POSITIVE_INFINITY ? summed.filter(isWithin) : [],
  }))
}

/** What the facts of customers come to. */
interface Summed {
  /** By period id. */
  readonly sums: ReadonlyMap<string, PeriodSums>
  /** How many facts were read. */
  readonly facts: number
  readonly early: readonly EarlyCustomer[]
}

/**
 * Reads the customers of affiliates and adds their facts to the sums of each period.
 *
 * @throws TooManyFacts
 */
async function sumFacts(
  computation: Computation,
  affiliates: readonly string[],
  maxFacts: number,
  booksOf: BooksOf,
  earlier: EarlierFacts,
): Promise<Summed> {
  const { source, range, context, position, explained } = computation
  const isExplained: IsExplained = (period) => {
    const isOpen = openIn(booksOf, period)
    return (affiliate, plan) =>
      explained.has(explainedKey(affiliate, period.id)) || isOpen(affiliate, plan)
  }
  const sums = new Map(range.periods.map(({ id }) => [id, new Map() as PeriodSums]))
  const add = range.periods.map((period) => {
    const own = sums.get(period.id) ?? new Map()
    const inPeriod = { ...context, period, isExplained: isExplained(period) }
    const addTo = newSums(inPeriod, own)
    return (evaluated: EvaluatedCustomer) => addTo(asOf(evaluated, period.last))
  })
  const queries = factQueries(source.selection, range.days, source.settings.statusMembers)
  const isNeeded = neededQueries(source, context.tree, range.periods)
  const early: EarlyCustomer[] = []
  let facts = 0
  const yieldAfter = yieldAfterFacts()
  const batches = customersOf(source, affiliates, queries, isNeeded, earlier)
  for await (const customers of batches) {
    const kept: KeptFacts[] = []
    for (const customer of customers) {
      for (const { count } of customer.facts) facts += count
      if (facts > maxFacts) throw new TooManyFacts()
      const pause = yieldAfter(customer.facts.length)
      if (pause) await pause
      early.push(...earlyOf(customer))
      const found = evaluateCustomer(context, customer)
      const own =
        position === null || !customer.unkept ? null : keptFactsOf(context, found, customer.unkept)
      if (own) kept.push(own)
      const evaluated = withoutFacts(found, isExplained)
      for (const addTo of add) addTo(evaluated)
    }
    if (position !== null) await keepFacts(source.db, source.account.id, kept, position)
  }
  return { sums, facts, early }
}

/** Returns a customer if facts are before the signup. */
function earlyOf({ affiliates, facts, signupDay }: Customer): EarlyCustomer[] {
  let [first, signup] = [signupDay, signupDay]
  for (const { day, resource } of facts) {
    if (resource === 'customers') signup = Math.min(signup, day)
    else first = Math.min(first, day)
  }
  const owners = affiliates.flatMap(({ value }) => value ?? [])
  return first < signup ? [{ first, signup, owners }] : []
}

/**
 * Returns what closed periods leave, of affiliates and plans. Where lines differ from what is booked of them, `form` is
 * empty: no settings have it, so an earlier state that would hold again with its settings is no longer found. What becomes
 * known of a customer marks the signup: where facts before it count, nothing would tell that the state no longer holds.
 */
async function statesOf(
  formOf: Forms['formOf'],
  periods: readonly ComputedPeriod[],
  settlements: readonly (Pick<AffiliateSettlement, 'early'> & Pick<RateView, 'covers'>)[],
): Promise<ClosedState[]> {
  const found: ClosedState[] = []
  for (const { period, results } of periods) {
    const form = await formOf(period.last)
    const isEarly = ({ first, signup }: EarlyCustomer) =>
      first <= period.last && period.last < signup
    const early = settlements.filter((one) => one.early.some(isEarly))
    for (const result of results) {
      const { affiliate: affiliate_id, plan, closed, differences, state } = result
      if (!closed || early.some(({ covers }) => covers(result))) continue
      const left = { affiliate_id, plan: plan.plan, period: period.id }
      const holds = differences.length === 0
      found.push({ ...left, form: holds ? form : '', state: JSON.stringify(state) })
    }
  }
  return found
}
