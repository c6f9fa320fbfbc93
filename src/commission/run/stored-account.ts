import type { Databases } from '../../ingest/db/histories.ts'
import { accountDatabase } from '../../platform/db/database.ts'
import type { Account } from '../../platform/db/schema.ts'
import { type AffiliateParents, readParents } from '../../platform/directory/affiliates.ts'
import {
  type EventDefinition,
  listDefinitions,
} from '../../platform/directory/event-definitions.ts'
import { readMapping } from '../../platform/directory/status-maps.ts'
import { DAY_MS, HOUR_MS } from '../../platform/durations.ts'
import { memoize } from '../../platform/memoize.ts'
import { dayNumber, dayText, type PeriodKind } from '../../platform/money/calendar.ts'
import { type RateFinder, rateLookup } from '../../platform/money/exchange.ts'
import { bookZoneOf, dayInZone, instantOfLocalTime } from '../../platform/zone.ts'
import type { DayRange, FactSelection } from '../db/fact-tables.ts'
import type { Account as EngineAccount } from '../engine/account.ts'
import type { Dated } from '../engine/facts.ts'
import { buildPlansInForce, type PlansInForce } from '../engine/plans-in-force.ts'
import { buildTree, type Tree } from '../engine/tree.ts'
import { readStoredPlans } from '../plans/stored-plans.ts'
import { currenciesOf, selectFacts, statusMembersOf } from './select-facts.ts'
import type { FactSettings } from './to-facts.ts'

/** What an account's commissions are computed from, besides records and books, as it is stored. */
export interface StoredAccount extends Databases {
  readonly row: Account
  readonly inForce: PlansInForce
  /** The kinds of periods that its plans have. */
  readonly periodKinds: readonly PeriodKind[]
  /** The first day of the earliest assignment, in days since 1970; Infinity if there is none. */
  readonly firstAssignment: number
  readonly parents: readonly AffiliateParents[]
  /** Which records its plans need, and how they are read. */
  readonly selection: FactSelection
  readonly settings: FactSettings
  /** Those of a brand's events. */
  readonly definitions: readonly EventDefinition[]
}

/** Reads the plans, affiliates and settings of an account. */
export async function readAccount(env: Env, account: Account): Promise<StoredAccount> {
  const databases = { db: accountDatabase(env, account), directory: env.DB }
  return storedAccount(databases, account, await readRows(databases, account))
}

/** Reads the stored plans, affiliates and settings of an account, in parallel. */
export const readRows = (
  { db, directory }: Databases,
  { id, vertical }: Pick<Account, 'id' | 'vertical'>,
) =>
  Promise.all([
    // `readStoredPlans` uses only methods that a session has, too.
    readStoredPlans(db as D1Database, id),
    readParents(db, id, null),
    // Only brands define events.
    vertical === 'igaming' ? listDefinitions(directory, id) : [],
    readMapping(directory, id),
  ])

/** Returns what is stored of an account from the result of `readRows`. */
export function storedAccount(
  databases: Databases,
  account: Account,
  [stored, parents, definitions, statusMap]: Awaited<ReturnType<typeof readRows>>,
): StoredAccount {
  const inForce = plansInForceOf(stored)
  const signed = account.amount_signs === 'signed'
  const outflows = definitions.filter(({ outflow }) => signed && outflow)
  const readSettings = {
    statusMap,
    signed,
    outflows: new Set(outflows.map(({ eventname }) => eventname)),
  }
  const selection = selectFacts(inForce, readSettings)
  const settings = {
    ...readSettings,
    statusMembers: statusMembersOf(definitions),
    plausible: plausibleDays(account, Date.now()),
    eventCurrencies: currenciesOf(definitions),
    summed: selection,
    dayStart: memoize(dayStartOf(account)),
    dayText: memoize(dayText),
  }
  return {
    ...databases,
    row: account,
    inForce,
    parents,
    selection,
    settings,
    definitions,
    periodKinds: [...new Set([...inForce.plans.values()].map(({ first }) => first.period))],
    firstAssignment: Math.min(
      Number.POSITIVE_INFINITY,
      ...stored.assignments.map(({ from }) => dayNumber(from)),
    ),
  }
}

/** Records of earlier days are implausible. */
const FIRST_PLAUSIBLE_DAY = dayNumber('2000-01-01')
/** So are records of days that begin later than this after the present. */
const PLAUSIBLE_LEAD_MS = 36 * HOUR_MS

/** Returns the days on which the records of an account can be at `now` (§16.30). */
function plausibleDays(account: Account, now: number): DayRange {
  const last = dayNumber(dayInZone(bookZoneOf(account), now + PLAUSIBLE_LEAD_MS))
  return { first: FIRST_PLAUSIBLE_DAY, last }
}

/** Returns the plans of an account with their assignments, compiled for the engine. */
export function plansInForceOf({
  versions,
  assignments,
}: Awaited<ReturnType<typeof readStoredPlans>>): PlansInForce {
  return buildPlansInForce({
    plans: [...Map.groupBy(versions, ({ plan }) => plan)].map(([plan, own]) => ({
      plan,
      versions: own.map(({ version, terms }) => ({ version, terms })),
    })),
    assignments: assignments.map((one) => ({ ...one, from: dayNumber(one.from) })),
  })
}

/** Days of brands start in the account's zone, days of partners in the book zone. */
function dayStartOf(account: Account): (day: number) => number {
  const zone = bookZoneOf(account)
  return (day) => instantOfLocalTime(zone, day * DAY_MS).instant
}

/** Returns the first day of a part of a history in days since 1970; null: from the beginning. */
export const dayOrNull = (from: string | null): number | null =>
  from === null ? null : dayNumber(from)

/** Returns a history in the form of the engine. */
export const dated = <P extends { readonly from: string | null }, T>(
  history: readonly P[],
  read: (part: P) => T,
): Dated<T>[] => history.map((part) => ({ from: dayOrNull(part.from), value: read(part) }))

/** Returns the tree of affiliates with their stored parents. */
export const storedTree = (affiliates: readonly AffiliateParents[]): Tree =>
  buildTree(
    affiliates.map(({ affiliate_id, parents }) => ({
      affiliate_id,
      parents: dated(parents, ({ parent }) => parent),
    })),
  )

/** Returns what the engine needs of an account, with rates of some days. They throw for other days. */
export const engineAccount = (
  { inForce, settings, parents }: StoredAccount,
  find: RateFinder,
  days: readonly DayRange[],
): EngineAccount => ({
  inForce,
  tree: storedTree(parents),
  dayStart: settings.dayStart,
  ...ratesWithin(find, days),
})

/** Returns the rates of a finder, and the days from which they come. They throw for other days, whose rates were not loaded, instead of `fx_missing`. */
export function ratesWithin(
  find: RateFinder,
  days: readonly DayRange[],
): Pick<EngineAccount, 'rates' | 'rateDay'> {
  const findLoaded: RateFinder = (currency, day) => {
    const found = find(currency, day)
    const isMissing = found === 'fx_missing'
    if (isMissing && !days.some(({ first, last }) => first <= day && day <= last)) {
      throw new Error(`The rates of ${dayText(day)} were not loaded.`)
    }
    return found
  }
  return {
    rates: rateLookup(findLoaded),
    rateDay: (currency, day) => {
      const found = findLoaded(currency, day)
      return typeof found === 'string' || currency === 'EUR' ? null : found.day
    },
  }
}
