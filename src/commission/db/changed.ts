import { ATTRIBUTION, CUSTOMER_CHANGES } from '../../ingest/db/changed.ts'
import type { LateChange } from '../../ingest/db/late-changes.ts'
import type { Connection } from '../../platform/db/database.ts'
import { all, only } from '../../platform/db/query.ts'
import { JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { bindStatement, compileStatement, pairs, readBatch } from '../../platform/db/statement.ts'
import type { Changes } from '../../platform/directory/audit.ts'
import { type DayRange, FACT_LIMITS, FACT_TABLES } from './fact-tables.ts'

const COLUMNS = {
  transactions: 't.transaction_id as id, t.transaction_type as kind',
  activity: `json_array(t.instrument, t.currency) as id, '' as kind`,
  events: 't.id, t.eventname as kind',
} as const

const TABLES = Object.values(FACT_TABLES)

/** Selects the records of the customers `:ids` on the days `:days`. */
const READ_STORED = TABLES.map(({ table, dayColumn }) =>
  compileStatement(`
    select t.customer_id, t.${dayColumn} as day, ${COLUMNS[table]}, t.delivery, null as before, null as after
    from ${table} t not indexed
    where t.account = :account and t.${dayColumn} in (select value from json_each(:days))
      and t.customer_id in (select value from json_each(:ids)) and t.held = 0`),
)

/** Returns the records of some customers and days. Of too many customers only the first are searched. */
export async function readStored(
  db: Connection,
  account: string,
  { customers, first, last }: DayRange & { readonly customers: readonly string[] },
): Promise<Omit<LateChange, 'at'>[]> {
  if (customers.length === 0) return []
  const days = Array.from({ length: last - first + 1 }, (_, i) => first + i)
  const searched = customers.slice(0, Math.ceil(FACT_LIMITS.searches / days.length))
  const values = { account, days: JSON.stringify(days), ids: JSON.stringify(searched) }
  const found = await readBatch<Omit<LateChange, 'resource' | 'at'>[][]>(
    db,
    READ_STORED.map((statement) => bindStatement(db, statement, values)),
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
  readonly details: Readonly<Record<string, unknown>> & { readonly changes?: Changes }
}

/** The maximum number of entries of the audit log that are read. */
const MAX_ENTRIES = 10_000

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

/** What waits for a rate in an approved statement. */
interface Waiting {
  readonly affiliate_id: string
  readonly plan: string
  readonly period: string
  readonly rule: string
  readonly reason: string
  readonly currency: string
}

const READ_WAITING = compileStatement(`
  select s.affiliate_id, s.plan, s.period, h.value ->> 'rule' as rule, h.value ->> 'reason' as reason,
    h.value ->> 'currency' as currency
  from ${JSON_EACH}(:affiliates) a
  cross join statements s indexed by statements_affiliate on s.account = :account and s.affiliate_id = a.value
  cross join json_each(s.statement, '$.holds') h
  where s.status <> 'draft' and h.value ->> 'currency' is not null`)

/** Returns what waits for a rate in the approved statements of some affiliates. */
export const readWaiting = (
  db: Connection,
  account: string,
  affiliates: readonly string[],
): Promise<Waiting[]> => all(db, READ_WAITING, { account, affiliates: JSON.stringify(affiliates) })

/** A rate that was published since a time, where there was none. */
export interface RateChange {
  readonly currency: string
  readonly day: number
  /** When it became known, in milliseconds. */
  readonly first_known: number
}

/** Reads the rates of some days that became known since a time, where there was none. */
const READ_NEW_RATES = compileStatement(`
  select r.key as currency, f.day, min(f.known_from) as first_known
  from fx_rates f cross join json_each(f.rates) r
  where f.day between :first and :last
  group by r.key, f.day having min(f.known_from) >= :since`)

/** Returns the rates of some days that became known since a time, where there was none. */
export const readNewRates = (
  directory: D1Database,
  range: DayRange & { readonly since: number },
): Promise<RateChange[]> => all<RateChange>(directory, READ_NEW_RATES, { ...range })
