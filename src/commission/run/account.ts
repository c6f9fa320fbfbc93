import { digest } from '../../platform/auth/secret.ts'
import { DAY_MS } from '../../platform/durations.ts'
import { memoize } from '../../platform/memoize.ts'
import {
  nextPeriod,
  type Period,
  type PeriodKind,
  parsePeriod,
  periodOf,
} from '../../platform/money/calendar.ts'
import { type LoadedRates, rateFinder } from '../../platform/money/exchange.ts'
import { type DayRange, mapFactTables } from '../db/fact-tables.ts'
import { type AccountBeginnings, type FactDays, readBeginnings } from '../db/facts.ts'
import { loadRates } from '../db/rates.ts'
import type { Account } from '../engine/account.ts'
import { assignedPlans, type PlansInForce } from '../engine/plans-in-force.ts'
import type { Tree } from '../engine/tree.ts'
import type { STEP_LIMITS } from '../limits.ts'
import { engineAccount, type StoredAccount } from './stored-account.ts'

/** An account up to a period, ready for any affiliates of it. */
export interface OpenAccount extends StoredAccount, Account {
  readonly range: ComputedRange
  /** The rates of its days, also those that were replaced. */
  readonly loaded: LoadedRates
  /** The digest of the settings and plans, on which stored results depend. */
  readonly form: string
}

/**
 * Opens an account up to a period: finds the days with facts, and loads rates.
 *
 * @param beginnings Where the account's records and books begin; absent: it is read.
 */
export async function openAccount(
  stored: StoredAccount,
  period: Period,
  beginnings?: AccountBeginnings,
): Promise<OpenAccount> {
  const found = beginnings ?? (await readBeginnings(stored.db, stored.row.id))
  const range = findRange(stored, period, found)
  const [loaded, form] = await Promise.all([
    loadRates(stored.directory, range.rateDays),
    settingsForm(stored),
  ])
  const account = engineAccount(stored, rateFinder(loaded), range.rateDays)
  return { ...stored, ...account, range, loaded, form }
}

/** The version of what is kept of closed periods. Increment it when that is computed in another way. */
const VERSION = 1

/** Returns the digest of the settings and plans of an account. */
export function settingsForm({ inForce, settings, row }: StoredAccount): Promise<string> {
  const { statusMap, statusMembers, outflows, eventCurrencies } = settings
  const terms = [...inForce.plans.values()].map(({ plan, versions }) => [
    plan,
    versions.map(({ version, source }) => [version, source]),
  ])
  return digest(
    JSON.stringify([
      VERSION,
      row.amount_signs,
      row.book_zone,
      statusMap,
      statusMembers,
      terms,
      [...outflows],
      [...eventCurrencies],
    ]),
  )
}

/** The periods that a computation needs, and the days with facts that it reads. */
export interface ComputedRange {
  readonly period: Period
  /** The first day that is computed: facts before it earn nothing. Days are since 1970. */
  readonly firstDay: number
  /** The first day of any record or manual entry; Infinity if there is none. */
  readonly anchor: number
  /** The first day that a manual entry can have if its plan is not assigned to its affiliate. */
  readonly unassignedFrom: number
  /** The days of which a rate may be needed. */
  readonly rateDays: readonly DayRange[]
  /** The days of which facts are read, by table. */
  readonly days: FactDays
  /** All periods from the first day on, of the kinds that plans have. */
  readonly periods: readonly Period[]
}

/** The maximum number of days by which a week ends after the month in which it begins. */
const DAYS_BEYOND = 6

/**
 * Returns the range of a computation up to a period. It starts with the first record or manual entry,
 * but not before the first assignment or manual entry, since no affiliate can earn before it. If an earlier
 * period is closed, it starts with that period.
 */
function findRange(
  { periodKinds, firstAssignment }: StoredAccount,
  period: Period,
  { days, signupDay, booked }: AccountBeginnings,
): ComputedRange {
  const lastDay = period.last + DAYS_BEYOND
  const all = Object.values(days)
  const entered = booked.entered === null ? null : Math.floor(Date.parse(booked.entered) / DAY_MS)
  const firsts = [...all.map(([first]) => first), signupDay, entered]
  const anchor = Math.min(...firsts.map((day) => day ?? Number.POSITIVE_INFINITY))
  const firstFact = Math.min(period.first, anchor)
  // A manual entry may outlive all assignments that its affiliate had when it was made.
  const firstEarning = Math.min(firstAssignment, entered ?? Number.POSITIVE_INFINITY)
  const firstDay = Math.min(
    Math.max(firstFact, Math.min(period.first, firstEarning)),
    ...booked.periods.map((id) => parsePeriod(id)?.first ?? firstFact),
  )
  const periods = periodsBetween(periodKinds, firstDay, period)
  const firstSummed = periods.reduce((first, one) => Math.min(first, one.first), firstDay)
  return {
    period,
    firstDay,
    anchor,
    unassignedFrom: Math.max(anchor, firstEarning),
    // The days between two records are left out, so that one old record does not load years of rates.
    rateDays: [...new Set([...all.flat(), ...periods.map(({ last }) => last)])].map((day) => ({
      first: day,
      last: day,
    })),
    // What is read one by one is read of all days: a customer qualifies by the first, and later ones can void a trigger.
    days: mapFactTables(days, (days) => ({
      single: days,
      summed: days.filter((day) => day >= firstSummed && day <= lastDay),
    })),
    periods,
  }
}

/**
 * Returns the periods of some kinds, from the one in which a day lies to the last that begins
 * within a period.
 */
function periodsBetween(
  kinds: readonly PeriodKind[],
  firstDay: number,
  { last }: Period,
): Period[] {
  return [...kinds].flatMap((kind) => {
    const periods: Period[] = []
    for (let one = periodOf(firstDay, kind); one.first <= last; one = nextPeriod(one, 1)) {
      periods.push(one)
    }
    return periods
  })
}

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
export function dependencies({
  inForce,
  tree,
  range: { periods },
}: OpenAccount): (affiliate: string) => Dependencies {
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
  return memoize((affiliate) => {
    const settled = new Set([affiliate, ...overridesOf(affiliate)])
    for (const upline of payers(affiliate)) {
      settled.add(upline)
      for (const below of overridesOf(upline)) settled.add(below)
    }
    return { settled, read: new Set([...settled].flatMap(readFor)) }
  })
}

function descend(tree: Tree, affiliate: string, day: number): string[] {
  const found: string[] = []
  for (let level = 1; ; level++) {
    const below = tree.below(affiliate, level, day)
    if (below.length === 0) return found
    for (const one of below) found.push(one)
  }
}

function reachOfPlans(inForce: PlansInForce, affiliate: string): Reach {
  const versions = assignedPlans(inForce, affiliate).flatMap((plan) => plan.versions)
  const rules = versions.flatMap((version) => version.rules)
  const overrides = rules.filter((rule) => rule.kind === 'override')
  return {
    levels: new Set(overrides.map(({ source }) => source.level)),
    funded: new Set(
      overrides.flatMap(({ source }) => (source.funded_by === 'downline' ? [source.level] : [])),
    ),
    network: rules.some(({ tiers }) => tiers?.network),
  }
}

/** Divides affiliates, in their order, into parts within limits. What several of a part depend on counts once. */
export function divide(
  dependenciesOf: (affiliate: string) => Dependencies,
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
