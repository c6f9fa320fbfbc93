import type { Connection } from '../../database.ts'
import { all, only } from '../../query.ts'
import { JSON_EACH } from '../../records/sql-fragments.ts'
import { bindStatement, compileStatement, pairs, readBatch } from '../../statement.ts'
import { FACT_LIMITS, FACT_TABLES } from '../fact-tables.ts'
import { BEGINNING } from '../history.ts'
import { KNOWN_CURRENCIES, RATE_SOURCE } from '../rates.ts'

type FactTable = keyof typeof FACT_TABLES

/** The table of a changed row. */
export type ChangedTable = FactTable | 'customers' | 'customer_affiliations' | 'customer_fields'

/** A row that a delivery wrote. Ids and days are as stored. */
export interface ChangedRow {
  readonly customer_id: string
  readonly day: number
  /** The record's own key. For trading activity: instrument and currency, as a JSON array. */
  readonly id: string
  /**
   * The type of a transaction or the name of an event; `corrected_early` of an affiliate who replaced the
   * first one from the signup on; otherwise ''.
   */
  readonly kind: string
  /** Null: the integrations team corrected the affiliate. */
  readonly delivery: string | null
  /** The index of the record in its delivery; -1 for tables without facts. */
  readonly idx: number
}

const COLUMNS = {
  transactions: 't.transaction_id as id, t.transaction_type as kind',
  activity: `json_array(t.instrument, t.currency) as id, '' as kind`,
  events: 't.id, t.eventname as kind',
} as const

/** Returns the SQL that reads facts of some days. */
const factsOfDays = (table: FactTable, columns: string, conditions: string) => {
  const { dayColumn } = FACT_TABLES[table]
  return `
    select t.customer_id, t.${dayColumn} as day, ${COLUMNS[table]}, ${columns}
    from ${table} t not indexed
    where t.account = :account and t.${dayColumn} in (select value from json_each(:days))
      and ${conditions}`
}

const writtenFacts = (table: FactTable, conditions: string) =>
  compileStatement(factsOfDays(table, 't.delivery, t.idx', conditions))

/** Reads the facts of some customers and days that the delivery `:since` or a later one has written. */
const changedFacts = (table: FactTable) =>
  writtenFacts(
    table,
    `t.customer_id in (select value from json_each(:ids))
      and t.delivery >= :since and t.held = 0`,
  )

/** The maximum number of moved records that are read from one table. */
const MAX_MOVED = 1000

/** Reads the facts of some days that some deliveries have written. */
const movedFacts = (table: FactTable) =>
  writtenFacts(table, `t.delivery in (select value from json_each(:deliveries)) limit ${MAX_MOVED}`)

/**
 * Reads the rows of another table of some customers that the delivery `:since` or a later one has
 * written.
 */
const changedCustomers = (table: Exclude<ChangedTable, FactTable>) =>
  compileStatement(`
    select t.customer_id, t.day, '' as id,
      ${table === 'customer_affiliations' ? `iif(t.day = ${BEGINNING} and t.previous_affiliate_id is not null, 'corrected_early', '')` : `''`} as kind,
      t.delivery, -1 as idx
    from ${JSON_EACH}(:ids) i
    cross join ${table} t on t.account = :account and t.customer_id = i.value
      and t.delivery >= :since`)

/** The days with facts to read, by table. */
export type ChangedDays = Readonly<Record<FactTable, readonly number[]>>

/** Returns the maximum number of customers for one call of `readChangedRows`. */
export function customersPerCall(days: ChangedDays): number {
  const most = Math.max(1, ...Object.values(days).map(({ length }) => length))
  return Math.max(1, Math.min(FACT_LIMITS.customers, Math.floor(FACT_LIMITS.searches / most)))
}

const TABLES: readonly ChangedTable[] = [
  'transactions',
  'activity',
  'events',
  'customers',
  'customer_affiliations',
  'customer_fields',
]

const isFactTable = (table: ChangedTable): table is FactTable => table in FACT_TABLES

/** Returns the tables with facts on some days. */
const factTables = (days: ChangedDays): FactTable[] =>
  Object.values(FACT_TABLES).flatMap(({ table }) => (days[table].length > 0 ? [table] : []))

/**
 * Reads the rows of some customers that the delivery `since` or later ones have written, in one round
 * trip.
 */
export async function readChangedRows(
  db: Connection,
  account: string,
  days: ChangedDays,
  ids: readonly string[],
  since: string,
): Promise<{ readonly table: ChangedTable; readonly rows: readonly ChangedRow[] }[]> {
  const values = { account, ids: JSON.stringify(ids), since }
  const tables = TABLES.filter((table) => !isFactTable(table) || days[table].length > 0)
  const found = await readBatch<ChangedRow[][]>(
    db,
    tables.map((table) =>
      isFactTable(table)
        ? bindStatement(db, changedFacts(table), { ...values, days: JSON.stringify(days[table]) })
        : bindStatement(db, changedCustomers(table), values),
    ),
  )
  return pairs(tables, found).map(([table, rows]) => ({ table, rows }))
}

/**
 * Whether deliveries from `:since` on have written records, or held records were released from
 * `:since_time` on. With `:last_day`, deliveries of customers do not count, and neither do those whose
 * records are all of later days.
 */
const HAS_CHANGED_RECORDS = compileStatement(`
  select exists (
      select 1 from deliveries d
      where d.account = :account and d.id >= :since and d.written > 0 and (
        :last_day is null or d.resource <> 'customers' and (d.moved is not null
          or exists (select 1 from json_each(d.days) where value <= :last_day)))
    ) or exists (
      select 1 from totals where account = :account
        and (releasing is not null or released_at >= :since_time)) as changed`)

/** Since when records may have changed, and up to which day. */
interface RecordChanges {
  /** The least delivery id. */
  readonly since: string
  /** In milliseconds. */
  readonly since_time: number
  /** In days since 1970; null: the records of all days, and customers. */
  readonly last_day: number | null
}

/** Returns whether records of an account have changed. */
export async function hasChangedRecords(
  db: Connection,
  account: string,
  changes: RecordChanges,
): Promise<boolean> {
  const values = { account, ...changes }
  return (await only<{ changed: 0 | 1 }>(db, HAS_CHANGED_RECORDS, values)).changed === 1
}

/** Reads the deliveries, from `:since` on, that moved records to another day or customer. */
const MOVING_DELIVERIES = compileStatement(`
  select id, resource, moved, days from deliveries
  where account = :account and id >= :since and moved is not null`)

/** A delivery that moved records. */
export interface MovingDelivery {
  readonly id: string
  /** The indexes of the records that it moved. */
  readonly moved: ReadonlySet<number>
  /** The days of its records, in days since 1970. */
  readonly days: readonly number[]
}

/** Returns the deliveries, from `since` on, that moved records to another day or customer. */
export async function readMovingDeliveries(
  db: Connection,
  account: string,
  since: string,
): Promise<MovingDelivery[]> {
  type Row = { id: string; moved: string; days: string }
  const results = await all<Row>(db, MOVING_DELIVERIES, { account, since })
  return results.map(({ id, moved, days }) => ({
    id,
    moved: new Set(JSON.parse(moved) as number[]),
    days: JSON.parse(days) as number[],
  }))
}

/** Reads the records of all customers that deliveries have moved to another day or customer. */
export async function readMovedFacts(
  db: Connection,
  account: string,
  moving: readonly MovingDelivery[],
): Promise<{ readonly table: FactTable; readonly rows: readonly ChangedRow[] }[]> {
  const moved = new Map(moving.map((one) => [one.id, one.moved]))
  const ids = [...moved.keys()].sort()
  const days = [...new Set(moving.flatMap((one) => one.days))]
  const values = { account, days: JSON.stringify(days), deliveries: JSON.stringify(ids) }
  const tables = Object.values(FACT_TABLES).map(({ table }) => table)
  const found = await readBatch<(ChangedRow & { delivery: string })[][]>(
    db,
    tables.map((table) => bindStatement(db, movedFacts(table), values)),
  )
  return pairs(tables, found).map(([table, rows]) => ({
    table,
    rows: rows.filter(({ delivery, idx }) => moved.get(delivery)?.has(idx)),
  }))
}

/** An entry of the audit log. */
export interface SettingChange {
  readonly id: string
  readonly at: string
  readonly action: string
  readonly details: Readonly<Record<string, unknown>>
}

/** The maximum number of entries of the audit log that are read. */
const MAX_ENTRIES = 1000

/** Reads the entries of some actions from the id `:since` on. */
const READ_CHANGES = compileStatement(`
  select id, at, action, details from audit_log indexed by audit_log_account
  where account = :account and id >= :since
    and action in (select value from ${JSON_EACH}(:actions))
  order by id limit ${MAX_ENTRIES}`)

/** Returns the entries of an audit log of some actions from the id `since` on, at most `MAX_ENTRIES`. */
export async function readSettingChanges(
  db: Connection,
  account: string,
  since: string,
  actions: readonly string[],
): Promise<SettingChange[]> {
  const values = { account, since, actions: JSON.stringify(actions) }
  type Row = Omit<SettingChange, 'details'> & { details: string }
  const results = await all<Row>(db, READ_CHANGES, values)
  return results.map((row) => ({ ...row, details: JSON.parse(row.details) }))
}

const HAS_CHANGED_SETTINGS = compileStatement(`
  select exists (
    select 1 from audit_log indexed by audit_log_account
    where account = :account and id >= :since
      and action in (select value from ${JSON_EACH}(:actions))) as changed`)

/** Returns whether an audit log has an entry of some actions from the id `since` on. */
export async function hasChangedSettings(
  db: Connection,
  account: string,
  since: string,
  actions: readonly string[],
): Promise<boolean> {
  const values = { account, since, actions: JSON.stringify(actions) }
  return (await only<{ changed: 0 | 1 }>(db, HAS_CHANGED_SETTINGS, values)).changed === 1
}

/** A rate that became known, or replaced another one, since a time. */
export interface RateChange {
  readonly currency: string
  readonly day: number
  /** In milliseconds. */
  readonly known_from: number
  /** When the first rate of its currency and day became known, in milliseconds. */
  readonly first_known: number
}

/** Reads the rates of some days that became known, or were corrected, since a time. */
const READ_NEW_RATES = compileStatement(`
  with recursive ${KNOWN_CURRENCIES}
  select f.currency, f.day, f.known_from, (
      select min(e.known_from) from fx_rates e where e.source = f.source
        and e.currency = f.currency and e.day = f.day) as first_known
  from known cross join fx_rates f on f.source = :source and f.currency = known.currency
    and f.day between :first and :last and f.known_from >= :since
  where known.currency is not null
  order by f.currency, f.day, f.known_from`)

/** Returns the rates of some days that became known, or were corrected, since a time. */
export async function readNewRates(
  directory: D1Database,
  range: { readonly first: number; readonly last: number; readonly since: number },
): Promise<RateChange[]> {
  const values = { source: RATE_SOURCE, ...range }
  return all<RateChange>(directory, READ_NEW_RATES, values)
}

/**
 * Finds the times at which rates of closed days became known or were corrected after these days were
 * closed. A rate may apply to the 7 days after its own day.
 */
const RATE_CHANGES = compileStatement(`
  with bands(first_day, last_day, closed_at) as (
    select value ->> 0 - 7, value ->> 1, value ->> 2 from ${JSON_EACH}(:bands)
  )
  select distinct f.known_from as at from bands b cross join fx_rates f
    on f.source = :source and f.day between b.first_day and b.last_day
    and f.known_from > b.closed_at
  union
  select distinct f.known_until from fx_rates f cross join bands b
    on f.day between b.first_day and b.last_day and f.known_until > b.closed_at
  where f.known_until is not null and f.source = :source
  order by at`)

/** Closed days, and when they were first closed, in milliseconds. */
export interface ClosedBand {
  readonly first: number
  readonly last: number
  readonly at: number
}

/** Returns the times at which rates of closed days changed, in milliseconds and in order. */
export async function readRateChanges(
  directory: D1Database,
  bands: readonly ClosedBand[],
): Promise<number[]> {
  if (bands.length === 0) return []
  const values = {
    source: RATE_SOURCE,
    bands: JSON.stringify(bands.map(({ first, last, at }) => [first, last, at])),
  }
  const results = await all<{ at: number }>(directory, RATE_CHANGES, values)
  return results.map(({ at }) => at)
}

type DaysTable = keyof typeof FACT_TABLES

/** A record of some customers and days. Ids are as stored. */
interface DayRecord {
  readonly table: DaysTable
  readonly customer_id: string
  readonly day: number
  /** The type of a transaction, the name of an event; otherwise ''. */
  readonly kind: string
}

/** A record that waited until its customer was received. */
export interface ReleasedRecord extends DayRecord {
  readonly delivery: string
}

/**
 * Reads the records from deliveries before `:before` that waited for their customer. A record waited if
 * its customer was received later and has not changed since, or if the delivery log lists the record.
 */
const releasedFacts = (table: DaysTable) =>
  compileStatement(
    factsOfDays(
      table,
      't.delivery',
      `t.customer_id in (select value from json_each(:ids))
        and t.delivery < :before and t.held = 0 and (
          exists (select 1 from customers c
            where c.account = t.account and c.customer_id = t.customer_id and c.revision = 1
              and c.delivery > t.delivery)
          or exists (select 1 from deliveries d cross join json_each(d.held_at) u
            where d.account = t.account and d.id = t.delivery and u.value = t.idx))`,
    ),
  )

const CURRENCY = {
  transactions: `t.currency, t.amount_usd is not null as usd`,
  activity: `t.currency, t.volume_usd is not null as usd`,
  events: 't.currency, 0 as usd',
} as const

/**
 * Reads the customers and days with records in some currencies; in any currency if `:currencies` is
 * null.
 */
const currenciesOfDays = (table: DaysTable) =>
  compileStatement(
    `select distinct customer_id, day, kind, currency, usd from (
      ${factsOfDays(
        table,
        CURRENCY[table],
        't.customer_id in (select value from json_each(:ids)) and t.held = 0',
      )})
    where :currencies is null or currency is null
      or currency in (select value from ${JSON_EACH}(:currencies))
      or (usd and 'USD' in (select value from ${JSON_EACH}(:currencies)))`,
  )

/**
 * A customer and day with records in a currency; null: events that take the currency of their
 * definition.
 */
export interface CurrencyDay extends DayRecord {
  readonly currency: string | null
  /** 1 if they have an amount in USD, too. */
  readonly usd: 0 | 1
}

async function readFacts<T extends DayRecord>(
  db: Connection,
  days: ChangedDays,
  statementOf: (table: DaysTable) => ReturnType<typeof compileStatement>,
  { ids, ...others }: { account: string; ids: readonly string[] } & Record<string, unknown>,
): Promise<T[]> {
  const tables = factTables(days)
  if (tables.length === 0) return []
  const values = { ...others, ids: JSON.stringify(ids) }
  const found = await readBatch<Omit<T, 'table'>[][]>(
    db,
    tables.map((table) =>
      bindStatement(db, statementOf(table), { ...values, days: JSON.stringify(days[table]) }),
    ),
  )
  return pairs(tables, found).flatMap(([table, rows]) =>
    rows.map((row) => ({ ...row, table }) as unknown as T),
  )
}

/** Returns the records of some customers that waited for them, from deliveries before `before`. */
export const readReleased = (
  db: Connection,
  account: string,
  days: ChangedDays,
  ids: readonly string[],
  before: string,
): Promise<ReleasedRecord[]> =>
  ids.length === 0
    ? Promise.resolve([])
    : readFacts(db, days, releasedFacts, { account, ids, before })

/**
 * Returns the customers and days with records in some currencies; in any currency if `currencies`
 * is null.
 */
export const readCurrencyDays = (
  db: Connection,
  account: string,
  days: ChangedDays,
  ids: readonly string[],
  currencies: readonly string[] | null,
): Promise<CurrencyDay[]> => {
  const listed = currencies === null ? null : JSON.stringify(currencies)
  return readFacts(db, days, currenciesOfDays, { account, ids, currencies: listed })
}
