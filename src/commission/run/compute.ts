import { type Period, periodOf } from '../../platform/money/calendar.ts'
import { type KeptFacts, keepFacts } from '../db/closed-states.ts'
import { mapFactTables } from '../db/fact-tables.ts'
import { type FactDays, factQueries } from '../db/facts.ts'
import { booksOf, isClosed } from '../engine/books.ts'
import { asOf, evaluateCustomer } from '../engine/customer.ts'
import type { Customer } from '../engine/facts.ts'
import type { EvaluatedCustomer } from '../engine/judge.ts'
import { NOTHING_KNOWN, type OnceState } from '../engine/once.ts'
import { assignmentsOf, planKey } from '../engine/plans-in-force.ts'
import { settlePeriods } from '../engine/settle-periods.ts'
import type { PlanResult } from '../engine/settlement.ts'
import { customersIn, newSums, type PeriodSums } from '../engine/sums.ts'
import { SETTLED_LIMITS } from '../limits.ts'
import { dependencies, divide, type OpenAccount } from './account.ts'
import {
  customersOf,
  keptFactsOf,
  neededQueries,
  TooManyFacts,
  yieldAfterFacts,
} from './customers.ts'
import type { EarlyCustomer, Start } from './starts.ts'
/** How affiliates are computed. */
export interface Computing {
  /** The most facts to read; absent: as many as there are. */
  readonly maxFacts?: number
  /** From where a run reads marks of changes, which keeps what `once` rules need; absent: nothing is kept. */
  readonly position?: number
  /** Whether all are computed from the first record, with the same result. */
  readonly isWhole?: boolean
  /** The affiliates and closed periods (`correctedKey`) whose lines are explained as those of open ones, which takes memory. */
  readonly corrected?: ReadonlySet<string>
}

/** Returns the key of an affiliate and a period. */
export const correctedKey = (affiliate: string, period: string): string =>
  JSON.stringify([affiliate, period])

/** What the facts of a start come to. */
export interface SummedFacts {
  /** By period id. */
  readonly sums: ReadonlyMap<string, PeriodSums>
  /** How many facts were read. */
  readonly facts: number
  /** The customers who have facts before their signup, among those that were read. */
  readonly early: readonly EarlyCustomer[]
}

/**
 * Reads the facts on which the affiliates of a start depend, a few customers at a time, and adds them to the sums of each
 * period.
 *
 * @throws TooManyFacts
 */
export async function sumFacts(
  start: Start,
  { maxFacts = Number.POSITIVE_INFINITY, position, corrected }: Computing = {},
): Promise<SummedFacts> {
  const { account, affiliates, last, periods } = start
  const { db, row, selection, settings } = account
  const dependenciesOf = dependencies(account)
  const read = new Set(affiliates.flatMap((one) => [...dependenciesOf(one).read]))
  const queriesWithin = (from: number, to: number) =>
    factQueries(selection, daysWithin(account, from, to), settings.statusMembers)
  const earlier = { ...start, queries: queriesWithin(Number.NEGATIVE_INFINITY, last) }
  const isExplained = (period: Period) => (affiliate: string, plan: string) =>
    corrected?.has(correctedKey(affiliate, period.id)) ||
    !isClosed(booksOf(start.books, affiliate, plan), period)
  const sums = new Map(periods.map(({ id }) => [id, new Map() as PeriodSums]))
  const add = periods.map((period) =>
    newSums({ ...account, period }, sums.get(period.id) ?? new Map(), isExplained(period)),
  )
  const early: EarlyCustomer[] = []
  let facts = 0
  const yieldAfter = yieldAfterFacts()
  const batches = customersOf(
    account,
    [...read],
    queriesWithin(last + 1, Number.POSITIVE_INFINITY),
    {
      account,
      isNeeded: neededQueries(account, periods),
      earlier,
    },
  )
  for await (const customers of batches) {
    const kept: KeptFacts[] = []
    for (const customer of customers) {
      for (const { count } of customer.facts) facts += count
      if (facts > maxFacts) throw new TooManyFacts()
      const pause = yieldAfter(customer.facts.length)
      if (pause) await pause
      early.push(...earlyOf(customer))
      const found = evaluateCustomer(account, customer)
      const own =
        position !== undefined && customer.unkept && keptFactsOf(account, found, customer.unkept)
      if (own) kept.push(own)
      const evaluated = withoutFacts(found, isExplained)
      for (const [i, addTo] of add.entries()) addTo(asOf(evaluated, periods[i]?.last ?? 0))
    }
    if (position !== undefined) await keepFacts(db, row.id, kept, position)
  }
  return { sums, facts, early }
}

/** Returns the days from `first` to `last` of which facts are read. Sums are read only of the days that are computed. */
function daysWithin({ range: { days } }: OpenAccount, first: number, last: number): FactDays {
  const isWithin = (day: number): boolean => first <= day && day <= last
  return mapFactTables(days, ({ single, summed }) => ({
    single: single.filter(isWithin),
    summed: last === Number.POSITIVE_INFINITY ? summed.filter(isWithin) : [],
  }))
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

/** Divides the affiliates of a start into parts whose results fit into memory together: a line is made for about each customer. */
export function partsOf({ account, affiliates }: Start, { sums }: SummedFacts): string[][] {
  const linesOf = (affiliate: string) =>
    [...sums.values()].reduce((sum, one) => sum + customersIn(one.get(affiliate)), 0)
  return divide(dependencies(account), affiliates, linesOf, SETTLED_LIMITS)
}

/** Settles affiliates of a start, with all that they depend on. Returns their results in order of period, affiliate and plan. */
export function settle(
  start: Start,
  { sums }: SummedFacts,
  affiliates: readonly string[],
): PlanResult[] {
  const { account, periods, plans } = start
  const wanted = new Set(affiliates)
  const dependenciesOf = dependencies(account)
  const settled = new Set(affiliates.flatMap((one) => [...dependenciesOf(one).settled]))
  const isAssigned = (one: string) => assignmentsOf(account.inForce, one).length > 0
  const own = [...settled].filter((one) => wanted.has(one) || isAssigned(one))
  const results = settlePeriods(account, start, sums, { affiliates: own, periods })
  return periods
    .flatMap(({ id }) => results.get(id) ?? [])
    .filter(({ affiliate, plan: { plan } }) => {
      return wanted.has(affiliate) && (plans?.has(planKey(affiliate, plan)) ?? true)
    })
}
