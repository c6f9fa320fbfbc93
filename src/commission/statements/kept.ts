import { digest } from '../../auth/secret.ts'
import { MonthArchived } from '../../db/archive/archived.ts'
import { EVERYTHING } from '../../db/commission/fact-tables.ts'
import {
  type CustomerFactQuery,
  customersPerBatch,
  earningQueries,
  type FactDays,
  type FactQuery,
  type FactRow,
  type RowKind,
  readFactRows,
  readPacked,
} from '../../db/commission/facts.ts'
import {
  beginKeeping,
  KEPT_LIMITS,
  type KeptCustomer,
  type KeptDays,
  type KeptRows,
  type NewDays,
  type NewlyKept,
  putKept,
  readKeptDays,
  selectKept,
  selectKeptDays,
  stopKeeping,
  toKept,
} from '../../db/commission/kept.ts'
import { DAY_MS } from '../../durations.ts'
import { dayNumber, dayText, firstDayOf } from '../engine/calendar.ts'
import { memoize } from '../engine/memoize.ts'
import type { AccountSource } from './source.ts'

// Runs keep the facts of past days, so that a computation reads only the records of open days. For each
// customer a run keeps the rows that SQL returned for the records of some days, before the status map,
// rates, plans, affiliates or histories were applied: computations always read these as they are now.
// When a record changes afterwards, its day is marked as changed, and computations read the
// records of that day again. A computation therefore has the same result with and without kept facts.

/** The days of which a computation reads facts. Days are since 1970. */
interface ReadRange {
  /** The first day of which facts are summed. */
  readonly firstSummed: number
  /** The last day of which facts are read. */
  readonly lastDay: number
}

/** The kept days that one computation uses. */
export interface KeptDaysInUse {
  /** The days whose kept rows the computation reads. */
  readonly usable: readonly KeptDays[]
  /** The days for which a run keeps the rows of customers that have none. */
  readonly filled: readonly KeptDays[]
  /** The queries of all kinds; their days are placeholders. */
  readonly queries: readonly FactQuery[]
  /** Identifies what the queries read: rows with equal digests are comparable. */
  readonly rowsDigest: string
  readonly range: ReadRange
  /** The run that keeps rows; null: no run. */
  readonly run: string | null
  /** Whether a customer of whom a run did not keep a kind of rows needs none of them. */
  readonly hasNeededKinds?: boolean
}

/** Placeholder days, for queries of which only the SQL and the other values are used. */
const ANY_DAY = { single: [0], summed: [0] }

/** Returns the queries of all kinds of rows that an account reads; their days have no meaning. */
const queriesOfAllKinds = ({
  selection,
  settings,
}: Pick<AccountSource, 'selection' | 'settings'>): FactQuery[] =>
  earningQueries(
    selection,
    { transactions: ANY_DAY, activity: ANY_DAY, events: ANY_DAY },
    settings.statusMembers,
  )

/** The version of kept rows. Increment it when their JSON changes, so that older rows are not read. */
const ROWS_VERSION = 1

/** Returns the digest of the version of kept rows and of the SQL and values of some queries. */
const rowsDigestOf = (queries: readonly FactQuery[]): Promise<string> => {
  const parts = queries.map(({ kind, statements, values }) => [kind, statements.rows.sql, values])
  return digest(JSON.stringify([ROWS_VERSION, ...parts]))
}

/** The first and the last day that are kept together. */
type DayBounds = Pick<KeptDays, 'first_day' | 'last_day'>

/** Returns the first day in the range that needs sums; `last_day + 1` if none does. */
const firstNeededSum = ({ firstSummed }: ReadRange, { first_day, last_day }: DayBounds): number =>
  Math.min(Math.max(firstSummed, first_day), last_day + 1)

/** Whether what is kept for some days includes every row that a computation needs. */
const includesNeededRows = (days: KeptDays, rowsDigest: string, range: ReadRange): boolean =>
  days.form === rowsDigest && days.summed_from <= firstNeededSum(range, days)

/**
 * Reads which days an account keeps, and returns those that a computation uses; null if the account
 * keeps none, or the computation reads every record one by one.
 *
 * @param run The run that keeps rows; null: no run.
 */
export async function readKeptDaysInUse(
  source: AccountSource,
  { firstSummed, lastDay }: ReadRange,
  run: string | null,
): Promise<KeptDaysInUse | null> {
  const { db, account, selection } = source
  if (selection === EVERYTHING) return null
  const kept = await readKeptDays(db, account.id)
  if (kept.length === 0) return null
  const range = { firstSummed, lastDay }
  const queries = queriesOfAllKinds(source)
  return chooseKeptDays({ queries, rowsDigest: await rowsDigestOf(queries), range, run }, kept)
}

/** Returns which of the days that an account keeps now are usable and filled. */
function chooseKeptDays(
  computation: Omit<KeptDaysInUse, 'usable' | 'filled'>,
  kept: readonly KeptDays[],
): KeptDaysInUse {
  const { rowsDigest, range, run } = computation
  const comparable = kept.filter((days) => includesNeededRows(days, rowsDigest, range))
  const usable = comparable.filter(({ ready }) => ready === 1)
  // A run may fill only days of which it reads all rows that any computation may need.
  const readsAllOf = (days: KeptDays) =>
    days.last_day <= range.lastDay && firstNeededSum(range, days) <= days.summed_from
  const filled =
    run === null
      ? []
      : comparable.filter(
          (days) => (days.ready === 1 || days.generation === run) && readsAllOf(days),
        )
  return { ...computation, usable, filled }
}

/**
 * Returns whether the records of a day must be read: no usable days include it, or a record of it has
 * changed.
 */
function openDays(usable: readonly KeptDays[]): (day: number) => boolean {
  const changed = new Set(usable.flatMap((days): number[] => JSON.parse(days.changed)))
  return (day) =>
    changed.has(day) ||
    !usable.some(({ first_day, last_day }) => first_day <= day && day <= last_day)
}

// A kept row is the array of a row's values, without the customer's id, in the order of the columns.

const isKeptColumn = (name: string): boolean => name !== 'customer_id'

/** Returns a row from its kept values. */
function fromKeptRow(
  customer_id: string,
  columns: readonly string[],
  values: readonly FactRow[string][],
): FactRow {
  const row: FactRow = { customer_id }
  for (const [i, name] of columns.filter(isKeptColumn).entries()) row[name] = values[i] ?? null
  return row
}

/**
 * Returns the rows that a run stores as kept: for each range of days in `filled`, those of the customers
 * without kept rows of these days.
 *
 * @param needed The kinds of rows that were read of each customer.
 * @param rows All rows that were read, by kind.
 * @param unkept The customers of whom too little was kept.
 */
function rowsToKeep(
  { usable, filled, queries }: Pick<KeptDaysInUse, 'usable' | 'filled' | 'queries'>,
  needed: ReadonlyMap<string, ReadonlySet<RowKind>>,
  rows: ReadonlyMap<RowKind, readonly FactRow[]>,
  unkept: ReadonlySet<string>,
): NewlyKept[] {
  const isUsable = ({ generation, first_day }: KeptDays) =>
    usable.some((days) => days.generation === generation && days.first_day === first_day)
  const byKind = new Map(
    [...rows].map(([kind, all]) => [kind, Map.groupBy(all, (row) => String(row.customer_id))]),
  )
  return filled.flatMap((days) =>
    [...needed]
      .filter(([id, kinds]) => kinds.size > 0 && (unkept.has(id) || !isUsable(days)))
      .map(([customer_id, kinds]): NewlyKept => {
        const kept: KeptRows = {}
        for (const { kind, statements } of queries) {
          if (!kinds.has(kind)) continue
          kept[kind] = (byKind.get(kind)?.get(customer_id) ?? [])
            .filter(({ day }) => days.first_day <= Number(day) && Number(day) <= days.last_day)
            .map((row) => statements.columns.filter(isKeptColumn).map((name) => row[name] ?? null))
        }
        const { first_day, generation } = days
        return { customer_id, first_day, generation, rows: kept }
      }),
  )
}

/** When runs keep the facts of a year, and when they keep them again. */
export const KEEPING = {
  /** A month is kept this many days after its end: until then its records still arrive. */
  settledDays: 3,
  /** A year is kept once this many of its days have records: for fewer, reading records is cheaper. */
  leastDays: 40,
  /** A year is kept again once more than this many of its days have changed. */
  changedDays: 60,
  /** An account that uses more than this share of its storage quota keeps no more facts. */
  shareOfQuota: 0.6,
  /** The share of a run's reads after which one customer's kept rows are compared with the records. */
  checkedShare: 0.05,
  /** A run that has not ended after this time, in milliseconds, is replaced. */
  lostAfterMs: DAY_MS / 2,
}

/** A run that keeps facts. */
interface KeepingRun {
  readonly run: string
  /** When it began, in milliseconds. */
  readonly now: number
}

/** Starts to keep each year that has no usable kept facts. */
export async function keepFacts(
  source: AccountSource,
  range: ReadRange & { readonly days: FactDays },
  { run, now }: KeepingRun,
): Promise<void> {
  const { db, account, selection } = source
  if (selection === EVERYTHING) return
  const rowsDigest = await rowsDigestOf(queriesOfAllKinds(source))
  const kept = await readKeptDays(db, account.id)
  const isKept = (year: DayBounds): boolean => {
    const found = kept.find(({ first_day }) => first_day === year.first_day)
    if (found?.ready === 0) return now - found.begun_at < KEEPING.lostAfterMs
    return found !== undefined && needsNoRenewal(found, year, rowsDigest, range)
  }
  const last = Math.min(lastSettledDay(Math.floor(now / DAY_MS)), range.lastDay)
  const factDays = Object.values(range.days).flatMap(({ single }) => single)
  const years = yearsWithRecords(factDays, last)
    .filter((year) => !isKept(year))
    .map((year): NewDays => ({ ...year, summed_from: firstNeededSum(range, year) }))
  if (years.length === 0) return
  const maxBytes = Math.floor(account.storage_quota * KEEPING.shareOfQuota)
  const keeping = { generation: run, form: rowsDigest, begun_at: now }
  await beginKeeping(db, account.id, keeping, years, maxBytes)
}

/** Whether kept days include all needed rows of a year, and few of them have changed. */
const needsNoRenewal = (
  kept: KeptDays,
  year: DayBounds,
  rowsDigest: string,
  range: ReadRange,
): boolean =>
  includesNeededRows(kept, rowsDigest, range) &&
  kept.last_day >= year.last_day &&
  JSON.parse(kept.changed).length <= KEEPING.changedDays

/** Returns the last day of the last month whose records have arrived. */
const lastSettledDay = (today: number): number =>
  firstDayOf(today - KEEPING.settledDays, 'month') - 1

/** Returns the years up to a last day in which at least `KEEPING.leastDays` days have records. */
function yearsWithRecords(factDays: readonly number[], last: number): DayBounds[] {
  const past = [...new Set(factDays)].filter((day) => day <= last)
  const byYear = Map.groupBy(past, (day) => dayText(day).slice(0, 4))
  return [...byYear]
    .filter(([, days]) => days.length >= KEEPING.leastDays)
    .map(([year]) => ({
      first_day: dayNumber(`${year}-01-01`),
      last_day: Math.min(dayNumber(`${year}-12-31`), last),
    }))
}

/** An account and its database. */
type AccountDatabase = Pick<AccountSource, 'db' | 'account'>

/** The rows of some queries, in the order of the queries. */
type RowsByQuery = readonly (readonly FactRow[])[]

/**
 * Reads the rows of customers from the records alone, in batches of bounded size. Each query returns the
 * rows of those of its customers who are in `ids` (stored ids).
 */
export async function readRecords(
  { db, account }: AccountDatabase,
  queries: readonly CustomerFactQuery[],
  ids: ReadonlySet<string>,
): Promise<RowsByQuery> {
  const rows: FactRow[][] = queries.map(() => [])
  const all = [...ids]
  const size = customersPerBatch(queries.map(({ query }) => query))
  for (let start = 0; start < all.length; start += size) {
    const part = new Set(all.slice(start, start + size))
    const ofPart = ofCustomers(queries, (id) => part.has(id))
    const wanted = ofPart.filter((one) => one.ids.length > 0)
    const found = await readFactRows(db, account.id, wanted)
    for (const [i, one] of ofPart.entries()) {
      for (const row of found[wanted.indexOf(one)] ?? []) {
        if (part.has(String(row.customer_id))) rows[i]?.push(row)
      }
    }
  }
  return rows
}

/** Returns queries for some of their customers only. */
const ofCustomers = (
  queries: readonly CustomerFactQuery[],
  isWanted: (id: string) => boolean,
): CustomerFactQuery[] => queries.map((one) => ({ ...one, ids: one.ids.filter(isWanted) }))

/** Returns the stored ids of the customers of some queries, each once. */
const customerIds = (queries: readonly CustomerFactQuery[]): string[] => [
  ...new Set(queries.flatMap(({ ids }) => ids)),
]

/**
 * Compares the kept rows of one random customer with the records, in a share `KEEPING.checkedShare` of
 * its calls. If they differ, logs an error, deletes what the account keeps, and returns false: the
 * caller must read all rows from the records.
 *
 * @param unkept The customers whose rows were read from the records.
 */
async function checkKept(
  database: AccountDatabase,
  kept: KeptDaysInUse,
  queries: readonly CustomerFactQuery[],
  rows: RowsByQuery,
  unkept: ReadonlySet<string>,
): Promise<boolean> {
  const id = randomOf(customerIds(queries).filter((one) => !unkept.has(one)))
  if (id === undefined || Math.random() >= KEEPING.checkedShare) return true
  if (await equalsRecordsIfAny(database, kept, queries, rows, id)) return true
  // A record may have changed after the rows were read.
  if (await haveDaysChanged(database, kept)) return true
  const { db, account } = database
  console.error(JSON.stringify({ fault: 'kept_facts_differ', account: account.id }))
  await stopKeeping(db, account.id)
  return false
}

const randomOf = (ids: readonly string[]): string | undefined =>
  ids[Math.floor(Math.random() * ids.length)]

/** Does the same; true if records of the customer are archived, so that there is nothing to compare with. */
async function equalsRecordsIfAny(
  ...comparison: Parameters<typeof equalsRecords>
): Promise<boolean> {
  try {
    return await equalsRecords(...comparison)
  } catch (error) {
    if (error instanceof MonthArchived) return true
    throw error
  }
}

/** Whether the rows of a customer on kept days are those of the records. */
async function equalsRecords(
  database: AccountDatabase,
  { usable }: KeptDaysInUse,
  queries: readonly CustomerFactQuery[],
  rows: RowsByQuery,
  id: string,
): Promise<boolean> {
  const records = await readRecords(database, queries, new Set([id]))
  const isOpen = openDays(usable)
  const textOf = (all: readonly FactRow[]): string =>
    sortedText(all.filter((row) => row.customer_id === id && !isOpen(Number(row.day))))
  return rows.every((all, i) => textOf(all) === textOf(records[i] ?? []))
}

/** Returns a text that is equal for the same rows in any order. */
const sortedText = (rows: readonly FactRow[]): string =>
  JSON.stringify(rows.map((row) => JSON.stringify(Object.entries(row).sort())).sort())

/** Whether the days that a computation may use have changed. */
async function haveDaysChanged(
  { db, account }: AccountDatabase,
  kept: KeptDaysInUse,
): Promise<boolean> {
  const now = chooseKeptDays(kept, await readKeptDays(db, account.id))
  return JSON.stringify(now.usable) !== JSON.stringify(kept.usable)
}

/** What one batch has read of some customers. */
interface BatchRows {
  /** The days that the account keeps. */
  readonly keptDays: readonly KeptDays[]
  readonly keptCustomers: readonly KeptCustomer[]
  /** The rows of open days. */
  readonly openRows: ReadonlyMap<RowKind, readonly FactRow[]>
}

/** Rows, and the customers of whom too little was kept. */
interface RowsWithKept {
  readonly rows: RowsByQuery
  /** The stored ids of the customers whose rows were all read from the records. */
  readonly unkept: ReadonlySet<string>
}

/** What is kept for each customer, by stored id. */
type KeptById = ReadonlyMap<string, readonly KeptCustomer[]>

/**
 * Puts together the rows of kept days and of open days. Reads the rows of customers of whom too little
 * is kept from the records.
 */
async function mergeRows(
  database: AccountDatabase,
  { usable, hasNeededKinds = false }: KeptDaysInUse,
  queries: readonly CustomerFactQuery[],
  { keptCustomers, openRows }: BatchRows,
): Promise<RowsWithKept> {
  const keptById = Map.groupBy(keptCustomers, ({ customer_id }) => customer_id)
  const unkept = unkeptCustomers(queries, keptById, usable.length, hasNeededKinds)
  const fromRecords =
    unkept.size > 0 ? await readRecords(database, withShareOf(queries, unkept.size), unkept) : []
  const isOpen = openDays(usable)
  const rows = queries.map((one, i) => {
    const { ids, query } = one
    const ofKept = new Set(ids.filter((id) => !unkept.has(id)))
    const all = keptRows(one, ofKept, keptById, isOpen)
    for (const row of openRows.get(query.kind) ?? []) {
      if (ofKept.has(String(row.customer_id))) all.push(row)
    }
    for (const row of fromRecords[i] ?? []) all.push(row)
    return all
  })
  return { rows, unkept }
}

/** Returns the customers of whom a needed kind of rows is not kept for all usable days. */
function unkeptCustomers(
  queries: readonly CustomerFactQuery[],
  keptById: KeptById,
  usableDays: number,
  hasNeededKinds: boolean,
): Set<string> {
  const isKept = (id: string, kind: RowKind): boolean => {
    const own = keptById.get(id) ?? []
    return (
      own.length === usableDays &&
      (hasNeededKinds || own.every(({ rows }) => rows[kind] !== undefined))
    )
  }
  return new Set(queries.flatMap(({ ids, query }) => ids.filter((id) => !isKept(id, query.kind))))
}

/** Returns queries with the share of only some of their customers, whose ids span the same range. */
const withShareOf = (
  queries: readonly CustomerFactQuery[],
  customers: number,
): CustomerFactQuery[] =>
  queries.map((one) => ({
    ...one,
    share: (one.share * customers) / Math.max(1, one.ids.length),
  }))

/** Returns the kept rows of some customers on the days of a query that are not open. */
function keptRows(
  { query: { kind, days, statements } }: CustomerFactQuery,
  customers: ReadonlySet<string>,
  keptById: KeptById,
  isOpen: (day: number) => boolean,
): FactRow[] {
  const wanted = new Set(days.filter((day) => !isOpen(day)))
  const rows: FactRow[] = []
  for (const id of customers) {
    for (const kept of keptById.get(id) ?? []) {
      for (const values of kept.rows[kind] ?? []) {
        const row = fromKeptRow(id, statements.columns, values)
        if (wanted.has(Number(row.day))) rows.push(row)
      }
    }
  }
  return rows
}

/** How many times rows are read if the kept days change meanwhile. */
const ATTEMPTS = 3

/**
 * Reads the rows of each query's customers: those of kept days as they were kept, those of open days
 * from the records. If too little is kept for a customer, all rows of the customer are read from the
 * records.
 */
async function readWithKept(
  database: AccountDatabase,
  kept: KeptDaysInUse,
  queries: readonly CustomerFactQuery[],
  attempts: number = ATTEMPTS,
): Promise<RowsWithKept> {
  const ids = customerIds(queries)
  if (kept.usable.length === 0 || attempts === 0) return readUnkept(database, queries, ids)
  const batch = await readBatchRows(database, kept.usable, queries, ids)
  if (batch === null) {
    return ids.length === 1
      ? readUnkept(database, queries, ids)
      : readHalvesWithKept(database, kept, queries, ids, attempts)
  }
  const current = chooseKeptDays(kept, batch.keptDays)
  if (JSON.stringify(current.usable) !== JSON.stringify(kept.usable)) {
    return readWithKept(database, current, queries, attempts - 1)
  }
  return mergeRows(database, kept, queries, batch)
}

/** Reads all rows from the records. */
async function readUnkept(
  database: AccountDatabase,
  queries: readonly CustomerFactQuery[],
  ids: readonly string[],
): Promise<RowsWithKept> {
  const unkept = new Set(ids)
  return { rows: await readRecords(database, queries, unkept), unkept }
}

/** Reads the first half of the customers, then the other half. */
async function readHalvesWithKept(
  database: AccountDatabase,
  kept: KeptDaysInUse,
  queries: readonly CustomerFactQuery[],
  ids: readonly string[],
  attempts: number,
): Promise<RowsWithKept> {
  const half = new Set(ids.slice(0, Math.ceil(ids.length / 2)))
  const read = (isWanted: (id: string) => boolean) =>
    readWithKept(database, kept, ofCustomers(queries, isWanted), attempts)
  const first = await read((id) => half.has(id))
  const second = await read((id) => !half.has(id))
  return {
    rows: queries.map((_, i) => [...(first.rows[i] ?? []), ...(second.rows[i] ?? [])]),
    unkept: new Set([...first.unkept, ...second.unkept]),
  }
}

/**
 * Reads kept rows and the records of open days in one batch, which sees one state of the database;
 * returns null if they are too many for one batch.
 */
async function readBatchRows(
  { db, account }: AccountDatabase,
  usable: readonly KeptDays[],
  queries: readonly CustomerFactQuery[],
  ids: readonly string[],
): Promise<BatchRows | null> {
  const isOpen = openDays(usable)
  const ofOpenDays = queries
    .map((one) => ({ ...one, query: { ...one.query, days: one.query.days.filter(isOpen) } }))
    .filter((one) => one.query.days.length > 0 && one.ids.length > 0)
  const found = await readPacked(db, account.id, ofOpenDays, [
    selectKeptDays(db, account.id),
    selectKept(db, account.id, ids, usable),
  ])
  const keptCustomers = found && toKept(found.beside[1] ?? [])
  if (found === null || keptCustomers === null || found.rows.includes(null)) return null
  return {
    keptDays: (found.beside[0] ?? []) as readonly unknown[] as readonly KeptDays[],
    keptCustomers,
    openRows: new Map(ofOpenDays.map(({ query: { kind } }, i) => [kind, found.rows[i] ?? []])),
  }
}

/** Returns how many customers one batch reads: fewer if more is kept per customer. */
export function customersPerKeptBatch(
  { usable }: KeptDaysInUse,
  queries: readonly FactQuery[],
): number {
  const isOpen = openDays(usable)
  const ofOpenDays = queries.map((one) => ({ ...one, days: one.days.filter(isOpen) }))
  const mean = usable.reduce((sum, days) => sum + days.mean, 0)
  const fitting = Math.floor(KEPT_LIMITS.facts / Math.max(1, 2 * mean))
  return Math.max(1, Math.min(customersPerBatch(ofOpenDays), fitting))
}

/**
 * Returns how much a fact of a day counts towards a limit of facts: 1 on an open day, `keptWeight` on a
 * kept day, whose facts are read faster.
 */
export function factWeightByDay(
  kept: KeptDaysInUse | null,
  keptWeight: number,
): (day: number) => number {
  if (kept === null || kept.usable.length === 0) return () => 1
  const isOpen = memoize(openDays(kept.usable))
  return (day) => (isOpen(day) ? 1 : keptWeight)
}

/** Which kinds of rows are needed for each customer, by stored id. */
export type NeededKinds = ReadonlyMap<string, ReadonlySet<RowKind>>

/** Days after all others. */
const NEVER = Number.MAX_SAFE_INTEGER

/**
 * Reads rows from the records. If some are archived, those of queries that accept it are kept rows instead.
 *
 * @throws MonthArchived if others are archived, or rows are not kept.
 */
async function readRecordsOrKept(
  source: AccountSource,
  queries: readonly CustomerFactQuery[],
): Promise<RowsByQuery> {
  const { db, account } = source
  try {
    return await readFactRows(db, account.id, queries)
  } catch (error) {
    if (!(error instanceof MonthArchived)) throw error
    const kept = await readKeptDaysInUse(source, { firstSummed: NEVER, lastDay: NEVER }, null)
    const replaced = queries.map((one) => kept && keptQuery(kept, one))
    const [ofKept, others] = [
      replaced.filter((one) => one !== null),
      queries.filter((_, i) => !replaced[i]),
    ]
    if (kept === null || ofKept.length === 0) throw error
    const rows = (await readWithKept(source, { ...kept, hasNeededKinds: true }, ofKept)).rows
    const otherRows = await readFactRows(db, account.id, others)
    return queries.map((one, i) => {
      const own = replaced[i]
      return (own ? rows[ofKept.indexOf(own)] : otherRows[others.indexOf(one)]) ?? []
    })
  }
}

/** Returns the query of the kept rows that replace those of a query; null if none may. */
function keptQuery(
  { queries }: KeptDaysInUse,
  { query, ...customers }: CustomerFactQuery,
): CustomerFactQuery | null {
  const found = queries.find(({ kind }) => kind === query.kind)
  const isSame = JSON.stringify(found?.values) === JSON.stringify(query.values)
  return query.acceptsKept && found && isSame
    ? { ...customers, query: { ...found, days: query.days } }
    : null
}

/**
 * Reads the rows of each query's customers: kept rows where there are any, otherwise from the records. A
 * run also keeps the rows that were not kept.
 *
 * @param kept The kept days to use; null: all rows are read from the records.
 * @throws MonthArchived if records that are not kept are archived.
 */
export async function readRows(
  database: AccountSource,
  kept: KeptDaysInUse | null,
  queries: readonly CustomerFactQuery[],
  needed: NeededKinds,
): Promise<RowsByQuery> {
  const { db, account } = database
  if (kept === null) return readRecordsOrKept(database, queries)
  if (queries.length === 0) return readFactRows(db, account.id, queries)
  const { rows, unkept } = await readWithKept(database, kept, queries)
  if (kept.run !== null && !(await checkKept(database, kept, queries, rows, unkept))) {
    return readFactRows(db, account.id, queries)
  }
  if (kept.filled.length > 0) {
    const byKind = new Map(queries.map(({ query: { kind } }, i) => [kind, rows[i] ?? []]))
    await putKept(db, account.id, rowsToKeep(kept, needed, byKind, unkept))
  }
  return rows
}
