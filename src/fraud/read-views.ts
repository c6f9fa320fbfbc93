import { dayText } from '../commission/engine/calendar.ts'
import type { Context } from '../commission/engine/context.ts'
import type { FactResource } from '../commission/engine/facts.ts'
import { customersOf, TooManyFacts } from '../commission/statements/compute.ts'
import type { AccountBeginnings } from '../commission/statements/days.ts'
import { yieldAfterFacts } from '../commission/statements/read-customers.ts'
import { type AccountSource, openContext } from '../commission/statements/source.ts'
import { datedTree } from '../commission/statements/tree.ts'
import { onceQueries } from '../commission/why/record-queries.ts'
import { decode, encode } from '../db/column-types.ts'
import { EVERYTHING, FACT_LIMITS, type FACT_TABLES } from '../db/commission/fact-tables.ts'
import { type FactDays, type FactQuery, factQueries, withDrawdown } from '../db/commission/facts.ts'
import { type IdentityQuery, readIdentities } from '../db/fraud/identities.ts'
import { readCodes, readStatementSums, type StatementSums } from '../db/fraud/view.ts'
import { customers as customersTable } from '../db/schema.ts'
import { clickTime } from '../tracking/code.ts'
import type { Twin } from './kind.ts'
import {
  type Found,
  findOf,
  firstPeriodDay,
  UNIQUE,
  type ViewOfDays,
  viewsOf,
  type WantedDays,
  type Windows,
  windowsOf,
} from './views.ts'

/** The views of affiliates, by affiliate, and their statements. */
export interface ReadViews {
  readonly views: ReadonlyMap<string, readonly ViewOfDays[]>
  readonly statements: readonly StatementSums[]
  /** How many records were read. */
  readonly facts: number
}

/** What views of an account are read from. */
export interface ViewSource {
  readonly source: AccountSource
  readonly beginnings: Pick<AccountBeginnings, 'days'>
  readonly context: Context
  /** Who shares an identity with the customers of some days. It is read once for all affiliates. */
  readonly identities: Map<string, Promise<IdentityFinder>>
}

/** Returns with whom a customer of an affiliate shares an identity. */
type IdentityFinder = (one: Found) => Found['identity']

/** Prepares the reading of views: loads the tree and the rates of all days that can be needed. */
export async function openViews(
  source: AccountSource,
  beginnings: Pick<AccountBeginnings, 'days'>,
  { reach, first: from, last }: WantedDays,
): Promise<ViewSource> {
  const all = Object.values(beginnings.days).flat()
  const first = all.reduce((least, day) => Math.min(least, day), firstPeriodDay(reach, from))
  const context = await openContext(source, datedTree(source.parents), [{ first, last }])
  return { source, beginnings, context, identities: new Map() }
}

/**
 * Reads the views of affiliates, whose customers are read in batches. Of each customer stay in memory only
 * the records that the rule reads.
 *
 * @throws TooManyFacts if more than `maxFacts` records are read.
 */
export async function readViews(
  from: ViewSource,
  affiliates: readonly string[],
  days: WantedDays,
  maxFacts: number,
): Promise<ReadViews> {
  const { source, context } = from
  const { reach, first, last } = days
  const wanted = new Set<string | null>(affiliates)
  const queries = queriesOf(from, days)
  const seen = new Map<string, Found[]>(affiliates.map((affiliate) => [affiliate, []]))
  const yieldAfter = yieldAfterFacts()
  let facts = 0
  for await (const batch of customersOf(
    { source, range: { lastDay: last } },
    affiliates,
    queries,
  )) {
    const found: Found[] = []
    for (const one of batch) {
      facts += one.facts.length
      if (facts > maxFacts) throw new TooManyFacts()
      const pause = yieldAfter(one.facts.length)
      if (pause) await pause
      for (const own of findOf(context, one, days)) {
        if (wanted.has(own.affiliate)) found.push(own)
      }
    }
    const clicks = reach.clicks
      ? await clicksOf(source, signedUp(found, first, reach.clicks))
      : NO_CLICKS
    for (const one of found) {
      seen
        .get(one.affiliate)
        ?.push({ ...one, clickedAt: clicks.get(one.customer.customer_id) ?? null })
    }
  }
  const statements = await readStatementSums(source.db, source.account.id, affiliates, {
    // Those of the year before can still be unpaid.
    first: yearOf(firstPeriodDay(reach, first)) - 1,
    last: yearOf(last),
  })
  const identityOf = await findIdentities(from, days)
  const views = affiliates.map((affiliate) => {
    const own = (seen.get(affiliate) ?? []).map((one) => ({ ...one, identity: identityOf(one) }))
    const earned = statements.filter(({ affiliate_id }) => affiliate_id === affiliate)
    return [affiliate, viewsOf(context, affiliate, own, earned, days)] as const
  })
  return { views: new Map(views), statements, facts }
}

/** Returns those who have signed up on the last days before a day, that day included, or after it. */
const signedUp = (found: readonly Found[], first: number, days: number): readonly Found[] =>
  found.filter(({ customer }) =>
    customer.facts.some(({ resource, day }) => resource === 'customers' && day > first - days),
  )

/** Returns a function that tells with whom the customers who signed up on some days share an identity. */
function findIdentities(
  { source, identities }: ViewSource,
  { reach, first, last }: WantedDays,
): Promise<IdentityFinder> | IdentityFinder {
  if (!reach.identities) return () => UNIQUE
  const query = { first: first - reach.identities + 1, last, names: reach.names === true }
  const key = JSON.stringify(query)
  const known = identities.get(key) ?? readIdentity(source, query)
  identities.set(key, known)
  return known
}

async function readIdentity(
  { db, account }: AccountSource,
  query: IdentityQuery,
): Promise<IdentityFinder> {
  const found = await readIdentities(db, account.id, query)
  const [emails, names] = [found.emails, found.names].map((groups) => {
    const twinsOf = new Map<string, Twin[]>()
    for (const { owners, customers } of groups) {
      const twins = customers.map(([id, signupDay, delivery]) => ({
        ...{ customer_id: wireId(id), signupDay },
        delivery_id: delivery ?? undefined,
      }))
      for (const id of owners) twinsOf.set(wireId(id), twins)
    }
    return twinsOf
  })
  const contacts = new Set(
    found.contacts.map((one) => JSON.stringify([one.affiliate_id, wireId(one.customer_id)])),
  )
  return ({ affiliate, customer: { customer_id } }) => {
    const others = (twins: readonly Twin[] = []) =>
      twins.filter((one) => one.customer_id !== customer_id)
    return {
      sameEmail: others(emails?.get(customer_id)),
      sameName: others(names?.get(customer_id)),
      isContact: contacts.has(JSON.stringify([affiliate, customer_id])),
    }
  }
}

const storedId = (id: string): string => String(encode(customersTable.customer_id, id))
const wireId = (id: string): string => String(decode(customersTable.customer_id, id))

const yearOf = (day: number): number => Number(dayText(day).slice(0, 4))

type Table = keyof typeof FACT_TABLES

const RESOURCES: Readonly<Record<Table, FactResource>> = {
  transactions: 'transactions',
  activity: 'trading-activity',
  events: 'activities',
}

/** Returns queries of all records in the windows, and of those on other days by which customers qualify. */
function queriesOf(
  { source, beginnings }: ViewSource,
  { reach, first, last }: WantedDays,
): FactQuery[] {
  const windows: Windows = windowsOf(reach, first)
  const daysWhere = (isRead: (table: Table, day: number) => boolean): FactDays => {
    const of = (table: Table) => ({
      single: beginnings.days[table].filter((day) => day <= last && isRead(table, day)),
      summed: [],
    })
    return { transactions: of('transactions'), activity: of('activity'), events: of('events') }
  }
  const isInside = (table: Table, day: number) => day >= windows[RESOURCES[table]]
  const inside = factQueries(EVERYTHING, daysWhere(isInside), source.settings.statusMembers)
  const outside = reach.qualified
    ? onceQueries({
        source,
        range: { days: daysWhere((table, day) => !isInside(table, day)) },
      })
    : []
  return [...withDrawdown(inside), ...outside]
}

const NO_CLICKS: ReadonlyMap<string, number> = new Map()

/** Returns when customers followed the links by which they came, in milliseconds. */
async function clicksOf(
  { db, account }: AccountSource,
  found: readonly Found[],
): Promise<ReadonlyMap<string, number>> {
  const ids = [...new Set(found.map(({ customer }) => customer.customer_id))]
  const clicks = new Map<string, number>()
  for (let start = 0; start < ids.length; start += FACT_LIMITS.customers) {
    const part = ids.slice(start, start + FACT_LIMITS.customers)
    const stored = part.map(storedId)
    const codes = await readCodes(db, account.id, stored)
    for (const [i, id] of part.entries()) {
      const time = clickTime(codes.get(stored[i] ?? '') ?? '')
      if (time !== null) clicks.set(id, time)
    }
  }
  return clicks
}
