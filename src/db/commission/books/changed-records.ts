import { pairs, readBatch } from '../../batch.ts'
import type { Connection } from '../../database.ts'
import { all, only } from '../../query.ts'
import { JSON_EACH } from '../../records/sql-fragments.ts'
import { bindStatement, compileStatement } from '../../statement.ts'
import { FACT_LIMITS, FACT_TABLES } from '../fact-tables.ts'
import { BEGINNING } from '../history.ts'

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
export const factsOfDays = (table: FactTable, columns: string, conditions: string) => {
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
export const changedFacts = (table: FactTable) =>
  writtenFacts(
    table,
    `t.customer_id in (select value from json_each(:ids))
      and t.delivery >= :since and t.held = 0`,
  )

/** The maximum number of moved records that are read from one table. */
export const MAX_MOVED = 1000

/** Reads the facts of some days that some deliveries have written. */
export const movedFacts = (table: FactTable) =>
  writtenFacts(table, `t.delivery in (select value from json_each(:deliveries)) limit ${MAX_MOVED}`)

/**
 * Reads the rows of another table of some customers that the delivery `:since` or a later one has
 * written.
 */
export const changedCustomers = (table: Exclude<ChangedTable, FactTable>) =>
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
export const factTables = (days: ChangedDays): FactTable[] =>
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
export const HAS_CHANGED_RECORDS = compileStatement(`
  select exists (
      select 1 from deliveries d
      where d.account = :account and d.id >= :since and d.written > 0 and d.dry_run = 0 and (
        :last_day is null or d.resource <> 'customers' and (d.days is null or d.moved is not null
          or exists (select 1 from json_each(d.days) where value <= :last_day)))
    ) or exists (
      select 1 from totals where account = :account
        and (releasing is not null or released_at >= :since_time)) as changed`)

/** Since when records may have changed, and up to which day. */
export interface RecordChanges {
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
export const MOVING_DELIVERIES = compileStatement(`
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
  type Row = { id: string; moved: string; days: string | null }
  const results = await all<Row>(db, MOVING_DELIVERIES, { account, since })
  return results.map(({ id, moved, days }) => ({
    id,
    moved: new Set(JSON.parse(moved) as number[]),
    days: JSON.parse(days ?? '[]') as number[],
  }))
}

/** Reads the records of all customers that deliveries have moved to another day or customer. */
export async function readMovedFacts(
  db: Connection,
  account: string,
  moving: readonly MovingDelivery[],
): Promise<{ readonly table: FactTable; readonly rows: readonly ChangedRow[] }[]> {
  const moved = new Map(moving.map((one) => [one.id, one.moved]))
  const values = {
    account,
    days: JSON.stringify([...new Set(moving.flatMap(({ days }) => days))]),
    deliveries: JSON.stringify([...moved.keys()]),
  }
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
