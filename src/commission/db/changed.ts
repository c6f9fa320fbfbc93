import { ATTRIBUTION, CUSTOMER_CHANGES } from '../../ingest/db/changed.ts'
import type { LateChange } from '../../ingest/db/late-changes.ts'
import type { Connection } from '../../platform/db/database.ts'
import { all, only } from '../../platform/db/query.ts'
import { JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { bindStatement, compileStatement, pairs, readBatch } from '../../platform/db/statement.ts'
import { FACT_LIMITS, FACT_TABLES } from './fact-tables.ts'

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
  select r.key as currency, f.day, f.known_from, (
      select min(e.known_from) from fx_rates e
      where e.day = f.day and e.rates ->> r.key is not null) as first_known
  from fx_rates f cross join json_each(f.rates) r
  where f.day between :first and :last and f.known_from >= :since and not exists (
    select 1 from fx_rates e
    where e.day = f.day and e.known_until = f.known_from and e.rates ->> r.key = r.value)
  order by currency, f.day, f.known_from`)

/** Returns the rates of some days that became known, or were corrected, since a time. */
export async function readNewRates(
  directory: D1Database,
  range: { readonly first: number; readonly last: number; readonly since: number },
): Promise<RateChange[]> {
  return all<RateChange>(directory, READ_NEW_RATES, range)
}
