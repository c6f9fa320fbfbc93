import { ATTRIBUTION, CUSTOMER_CHANGES } from '../../ingest/db/changed.ts'
import type { LateChange } from '../../ingest/db/late-changes.ts'
import type { Connection } from '../../platform/db/database.ts'
import { all, only } from '../../platform/db/query.ts'
import { JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { bindStatement, compileStatement, pairs, readBatch } from '../../platform/db/statement.ts'
import { FACT_LIMITS, FACT_TABLES } from './fact-tables.ts'
import { KNOWN_CURRENCIES, RATE_SOURCE } from './rates.ts'

const COLUMNS = {
  transactions: 't.transaction_id as id, t.transaction_type as kind',
  activity: `json_array(t.instrument, t.currency) as id, '' as kind`,
  events: 't.id, t.eventname as kind',
} as const

const TABLES = Object.values(FACT_TABLES)

/** Selects the records of the customers `:ids` on the days `:days` that the delivery `:since` or a later one wrote. */
const READ_WRITTEN = TABLES.map(({ table, dayColumn }) =>
  compileStatement(`
    select t.customer_id, t.${dayColumn} as day, ${COLUMNS[table]}, t.delivery, null as before, null as after
    from ${table} t not indexed
    where t.account = :account and t.${dayColumn} in (select value from json_each(:days))
      and t.customer_id in (select value from json_each(:ids)) and t.delivery >= :since
      and t.held = 0`),
)

/** Which records are read: of some customers, as stored, and of the days from `first` to `last`. */
interface WrittenQuery {
  readonly customers: readonly string[]
  readonly first: number
  readonly last: number
  /** The first delivery that may have written them. */
  readonly since: string
}

/**
 * Returns the records of some customers and days that recent deliveries wrote. Of too many customers only the first are
 * searched.
 */
export async function readWritten(
  db: Connection,
  account: string,
  { customers, first, last, since }: WrittenQuery,
): Promise<Omit<LateChange, 'at'>[]> {
  if (customers.length === 0) return []
  const days = Array.from({ length: last - first + 1 }, (_, i) => first + i)
  const ids = customers.slice(0, Math.ceil(FACT_LIMITS.searches / days.length))
  const values = { account, days: JSON.stringify(days), ids: JSON.stringify(ids), since }
  const found = await readBatch<Omit<LateChange, 'resource' | 'at'>[][]>(
    db,
    READ_WRITTEN.map((statement) => bindStatement(db, statement, values)),
  )
  return pairs(TABLES, found).flatMap(([{ resource }, rows]) =>
    rows.map((row) => ({ ...row, resource })),
  )
}

/** Whether a day is marked behind `:position`; up to `:last_day`, unless it is null, and then only if records lie on it. */
const HAS_CHANGED_RECORDS = compileStatement(`
  select exists (
    select 1 from changed where account = :account and seq > :position and resource <> ''
      and (:last_day is null or day <= :last_day
        and resource not in ('customers', '${CUSTOMER_CHANGES}', '${ATTRIBUTION}'))) as changed`)

/** Behind which marks something may have changed, and up to which day (null: of all days, and of customers). */
interface RecordChanges {
  readonly position: number
  readonly last_day: number | null
}

/** Returns whether records of an account, or what counts beside them, have changed. */
export async function hasChangedRecords(
  db: Connection,
  account: string,
  changes: RecordChanges,
): Promise<boolean> {
  const values = { account, ...changes }
  return (await only<{ changed: 0 | 1 }>(db, HAS_CHANGED_RECORDS, values)).changed === 1
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
  select distinct f.known_from as at from fx_rates f indexed by fx_rates_known cross join bands b
    on f.day between b.first_day and b.last_day and f.known_from > b.closed_at
  where f.known_from > (select min(closed_at) from bands) and f.source = :source
  union
  select distinct f.known_until from fx_rates f indexed by fx_rates_corrected cross join bands b
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
