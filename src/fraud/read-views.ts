import { clickTime } from '../attribution/code.ts'
import { EVERYTHING, type FACT_TABLES } from '../commission/db/fact-tables.ts'
import {
  type AccountBeginnings,
  customersPerBatch,
  type FactDays,
  type FactQuery,
  factQueries,
} from '../commission/db/facts.ts'
import { loadRates } from '../commission/db/rates.ts'
import type { Customer, FactResource } from '../commission/engine/facts.ts'
import { settingsForm } from '../commission/run/account.ts'
import { readCustomers, TooManyFacts, yieldAfterFacts } from '../commission/run/customers.ts'
import { engineAccount, type StoredAccount } from '../commission/run/stored-account.ts'
import { onceQueries } from '../commission/why/record-queries.ts'
import { dayNumber, dayText, periodOf } from '../platform/money/calendar.ts'
import { rateFinder } from '../platform/money/exchange.ts'
import { bookZoneOf, dayInZone } from '../platform/zone.ts'
import { type EarlierRow, type FirstCustomer, readIdentities } from './db/identities.ts'
import { countCustomers, readCodes, readSharedPayees, readStatementSums } from './db/view.ts'
import type { Earlier, Evidence, PayeeVersion, Reach, Seen, View } from './kind.ts'
import { MAX_DAYS } from './parameters.ts'
import { withoutVoids } from './qualifications.ts'
import { readRevenue } from './revenue.ts'
import {
  firstPeriodDay,
  seenBy,
  UNIQUE,
  type ViewSource,
  viewOf,
  type WantedDays,
  windowsOf,
} from './views.ts'

/** Prepares the reading of views of some days: loads the tree and the rates of all days that can be needed. */
export async function openViews(
  source: StoredAccount,
  beginnings: Pick<AccountBeginnings, 'days'>,
  { first: from, last }: Pick<WantedDays, 'first' | 'last'>,
  position: number | null = null,
): Promise<ViewSource> {
  const all = Object.values(beginnings.days).flat()
  const first = all.reduce((least, day) => Math.min(least, day), from - MAX_DAYS)
  const days = [{ first, last }]
  const [rates, customers, form] = await Promise.all([
    loadRates(source.directory, days),
    countCustomers(source.db, source.row.id),
    settingsForm(source),
  ])
  const account = engineAccount(source, rateFinder(rates), days)
  const inForce = withoutVoids(source.inForce)
  const own = { ...account, inForce }
  return { source, beginnings, account: own, rates, form, position, customers }
}

/** The views of affiliates, and how many records were read. */
export interface ReadViews {
  readonly views: ReadonlyMap<string, View>
  readonly facts: number
}

/** Yields customers with the records of some queries. */
export type ReadCustomers = (queries: readonly FactQuery[]) => AsyncIterable<Iterable<Customer>>

/** Yields customers by their ids. */
export async function* customersById(
  { source, customers }: ViewSource,
  ids: readonly string[],
  queries: readonly FactQuery[],
): AsyncGenerator<Iterable<Customer>> {
  const size = customersPerBatch(queries)
  const share = ids.length / Math.max(1, customers)
  for (let start = 0; start < ids.length; start += size) {
    yield await readCustomers(source, queries, { ids: ids.slice(start, start + size), share })
  }
}

/**
 * Reads the views that affiliates have of customers. Of each customer stay in memory only the records that the rule
 * reads.
 *
 * @param affiliates Those whose views are wanted.
 * @throws TooManyFacts if more than `maxFacts` records are read.
 */
export async function readViews(
  from: ViewSource,
  days: WantedDays,
  maxFacts: number,
  affiliates: ReadonlySet<string>,
  read: ReadCustomers,
): Promise<ReadViews> {
  const { source, account } = from
  const { reach, first, last } = days
  const queries = queriesOf(from, days)
  const seen = new Map<string, Seen[]>()
  const identityOf = await findIdentities(source, days)
  const yieldAfter = yieldAfterFacts()
  let facts = 0
  // A rule that reads periods alone needs no customers.
  const isOfCustomers = Object.values(windowsOf(reach, first)).some(Number.isFinite)
  for await (const batch of isOfCustomers ? read(queries) : []) {
    const found: [string, Seen][] = []
    for (const one of batch) {
      facts += one.facts.length
      if (facts > maxFacts) throw new TooManyFacts()
      const pause = yieldAfter(one.facts.length)
      if (pause) await pause
      found.push(...seenBy(account, one, days).filter(([affiliate]) => affiliates.has(affiliate)))
    }
    const ids = reach.clicks ? found.map(([, { customer_id }]) => customer_id) : []
    const clicks = await readClicks(source, [...new Set(ids)])
    for (const [affiliate, customer] of found) {
      const clickedAt = clicks.get(customer.customer_id) ?? null
      const own = seen.get(affiliate) ?? []
      seen.set(affiliate, own)
      own.push({ ...customer, clickedAt, ...identityOf(affiliate, customer) })
    }
  }
  const statements = endsPeriod(days)
    ? await readStatementSums(source.db, source.row.id, [...affiliates], {
        first: yearOf(firstPeriodDay(reach, first)),
        last: yearOf(last),
      })
    : []
  const earned = Map.groupBy(statements, ({ affiliate_id }) => affiliate_id)
  const payees = reach.payees ? await findPayees(source) : []
  const sharing = payees.map((one) => one.affiliate_id).filter((one) => affiliates.has(one))
  const views = [...new Set([...seen.keys(), ...earned.keys(), ...sharing])].map((affiliate) => {
    const [own, sums] = [seen.get(affiliate) ?? [], earned.get(affiliate) ?? []]
    return [affiliate, viewOf(account, affiliate, own, sums, days, payees)] as const
  })
  const own = views.map(([, view]) => view)
  if (reach.revenue) facts += await readRevenue(from, own, days)
  return { views: new Map(views), facts }
}

/** Returns whether periods are read, and one of them ends on one of some days. */
const endsPeriod = ({ reach, first, last }: WantedDays): boolean =>
  reach.periods !== undefined &&
  (['month', 'week'] as const).some((kind) => periodOf(first, kind).last <= last)

/** Returns a function that tells with whom the customers who signed up on some days share an identity. */
async function findIdentities(
  { db, row }: StoredAccount,
  { reach, first, last }: WantedDays,
): Promise<(affiliate: string, one: Seen) => Pick<Seen, 'earlier' | 'isContact'>> {
  if (!reach.identities) return () => UNIQUE
  const days = { first, last }
  const { contacts, emails, names } = await readIdentities(db, row.id, days, reach.names === true)
  const [byEmail, byName] = [emails, names].map(
    (rows) => new Map(rows.map((row) => [row.customer_id, earlierOf(row)])),
  )
  const isContact = new Set(
    contacts.map((one) => JSON.stringify([one.affiliate_id, one.customer_id])),
  )
  return (affiliate, { customer_id }) => ({
    earlier: {
      email: byEmail?.get(customer_id) ?? UNIQUE.earlier.email,
      name: byName?.get(customer_id) ?? UNIQUE.earlier.name,
    },
    isContact: isContact.has(JSON.stringify([affiliate, customer_id])),
  })
}

/** Returns the bank details with an account that several affiliates have, or had. */
async function findPayees({ db, row }: StoredAccount): Promise<PayeeVersion[]> {
  const dayOf = (time: number) => dayNumber(dayInZone(bookZoneOf(row), time))
  const rows = await readSharedPayees(db, row.id)
  return rows.map(({ entered_at, ended_at, ...one }) => ({
    ...one,
    first: dayOf(entered_at),
    until: ended_at === null ? null : dayOf(ended_at),
  }))
}

const earlierOf = ({ earlier, first }: EarlierRow): Earlier => ({
  count: earlier,
  first: JSON.parse(first).map(([id, day, delivery]: FirstCustomer): Evidence => {
    return { customer_id: id, resource: 'customers', id, day, delivery_id: delivery }
  }),
})

const yearOf = (day: number): number => Number(dayText(day).slice(0, 4))

type Table = keyof typeof FACT_TABLES

const RESOURCES: Readonly<Record<Table, FactResource & keyof Reach>> = {
  transactions: 'transactions',
  activity: 'trading-activity',
  events: 'activities',
}

/** Returns queries of all records in the windows, and of those on other days by which customers qualify. */
function queriesOf(
  { source, beginnings }: ViewSource,
  { reach, first, last }: WantedDays,
): FactQuery[] {
  const windows = windowsOf(reach, first)
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
    ? onceQueries(
        source,
        daysWhere((table, day) => !isInside(table, day)),
      )
    : []
  return [...inside, ...outside]
}

/** Returns when customers followed the links by which they came, in milliseconds. */
async function readClicks(
  { db, row }: StoredAccount,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (ids.length === 0) return new Map()
  const codes = await readCodes(db, row.id, ids)
  const times = codes.map(({ customer_id, code }) => [customer_id, clickTime(code)] as const)
  return new Map(times.flatMap(([id, time]) => (time === null ? [] : [[id, time]])))
}
