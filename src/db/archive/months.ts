import type { Connection } from '../database.ts'
import { toJsonChunks } from '../json-chunks.ts'
import { all, first } from '../query.ts'
import { JSON_EACH } from '../records/sql-fragments.ts'
import { withD1Retry } from '../retry.ts'
import { bindStatement, compileStatement, type Statement } from '../statement.ts'
import { ARCHIVED_TABLES, type ArchivedResource, type ArchivedTable } from './tables.ts'

/** A month of a resource of an account; days are since 1970. */
export interface Month {
  readonly account: string
  readonly resource: ArchivedResource
  readonly first_day: number
  readonly last_day: number
}

/** A month that is archived, or that leaves or comes back; the migration explains the states. */
export interface ArchivedMonth extends Month {
  readonly state: 'writing' | 'sealed' | 'archived' | 'restoring' | 'ended'
  readonly begun_at: number
  readonly totals_at: number
  readonly prefix: string
  readonly records: number | null
  readonly archived_at: number | null
  /** In milliseconds; 0 if an erased customer has records in it, so that its objects are deleted soon. */
  readonly wanted_at: number | null
  readonly fault: string | null
}

/** An object of an archived month. */
export interface ArchivePart {
  readonly part: number
  readonly sha256: string
  readonly bytes: number
  readonly version: number
  readonly records: number
  /** JSON: the days, each with its number of records. */
  readonly days: string
  /** JSON: the row groups, each with its number of records, and its first and its last key. */
  readonly groups: string
  /** JSON: the first and the last delivery that wrote a record. */
  readonly deliveries: string
  /** In milliseconds. */
  readonly written_at: number
  /** JSON: the control totals of its records, and their form; null if they are too large. */
  readonly totals: string | null
}

/** A value of a primary key. */
type KeyValue = string | number

/** A row as SQL stores it, without its account. */
export type StoredRow = Readonly<Record<string, string | number | null>>

/** Returns a statement for each table. */
export const forEachTable = (
  toSql: (table: ArchivedTable, resource: string) => string,
): Record<ArchivedResource, Statement> => {
  const of = (resource: ArchivedResource) =>
    compileStatement(toSql(ARCHIVED_TABLES[resource], resource))
  return {
    transactions: of('transactions'),
    'trading-activity': of('trading-activity'),
    activities: of('activities'),
  }
}

const OF_MONTH = 'account = :account and resource = :resource and first_day = :first_day'

const inMonth = ({ dayColumn }: ArchivedTable) =>
  `account = :account and ${dayColumn} between :first_day and :last_day`

/**
 * The conditions under which a month may be archived: no record waits for its customer, the account is not being
 * reset, no erasure goes on, and no record has changed since the control totals of `:totals_at`. Every change
 * of a record deletes the totals of its day in its own transaction.
 */
const mayBeArchived = (table: ArchivedTable) => `
    not exists (select 1 from resets where account = :account)
    and not exists (select 1 from erasures where account = :account and next_day is not null)
    and not exists (select 1 from ${table.table} indexed by ${table.table}_held
      where ${inMonth(table)} and held = 1)
    and not exists (
      with recursive days(stored_day) as (
        select min(${table.dayColumn}) from ${table.table} not indexed where ${inMonth(table)}
        union all
        select (select min(${table.dayColumn}) from ${table.table} not indexed
          where account = :account and ${table.dayColumn} > stored_day
            and ${table.dayColumn} <= :last_day)
        from days where stored_day is not null
      )
      select 1 from days left join day_totals k on k.account = :account and k.resource = :resource
        and k.day = stored_day and k.form = :form and k.computation is null and k.records is not null
        and k.checked_at <= :totals_at
      where stored_day is not null and k.day is null)`

const COUNT_ERASURES = '(select count(*) from erasures where account = :account)'

const KEPT_RECORDS = `(select coalesce(sum(k.records), 0) from day_totals k
      where k.account = :account and k.resource = :resource
        and k.day between :first_day and :last_day)`

const BEGIN = forEachTable(
  (table) => `
  insert into archived_months (account, resource, first_day, last_day, state, begun_at, totals_at, erasures,
    prefix)
  select :account, :resource, :first_day, :last_day, 'writing', :now, :totals_at, ${COUNT_ERASURES}, :prefix
  where ${mayBeArchived(table)} and ${KEPT_RECORDS} > 0
    and not exists (select 1 from move_sources where account = :account)
    and not exists (select 1 from move_copies where account = :account)
    and not exists (select 1 from retired_archives where account = :account and prefix = :prefix)
  on conflict do nothing
  returning state`,
)

/** The clocks of two isolates differ by less, in milliseconds. */
export const CLOCK_MS = 5 * 60_000

/**
 * Begins to archive a month. Returns false if it is archived already, may not be archived, or has a day whose
 * control totals are not kept, or are newer than `CLOCK_MS`.
 *
 * @param form The form of the control totals of the resource.
 * @param prefix Where its objects will be.
 */
export async function beginMonth(
  db: Connection,
  month: Month,
  { form, prefix, now }: { readonly form: string; readonly prefix: string; readonly now: number },
): Promise<boolean> {
  const values = { ...month, form, prefix, now, totals_at: now - CLOCK_MS }
  return (await first(db, BEGIN[month.resource], values)) !== null
}

const MONTH_COLUMNS =
  'account, resource, first_day, last_day, state, begun_at, totals_at, prefix, records, archived_at, wanted_at, fault'

const READ_MONTH = compileStatement(
  `select ${MONTH_COLUMNS} from archived_months where ${OF_MONTH}`,
)

/** Reads the state of a month; null if its records have never left, or are back. */
export const readMonth = (
  db: Connection,
  { account, resource, first_day }: Pick<Month, 'account' | 'resource' | 'first_day'>,
): Promise<ArchivedMonth | null> => first(db, READ_MONTH, { account, resource, first_day })

const READ_PARTS = compileStatement(`
  select part, sha256, bytes, version, records, days, groups, deliveries, written_at,
    totals
  from archive_objects where ${OF_MONTH} order by part`)

/** Reads the manifest of a month. */
export const readParts = (
  db: Connection,
  { account, resource, first_day }: Pick<Month, 'account' | 'resource' | 'first_day'>,
): Promise<ArchivePart[]> => all(db, READ_PARTS, { account, resource, first_day })

/** The records of a month behind a key, in the order of the primary key. */
const READ_PAGE = forEachTable(
  (table) => `
  select ${table.columns.map(({ name }) => name).join()} from ${table.table} not indexed
  where account = :account and ${table.dayColumn} <= :last_day
    and (${table.key.join()}) > (${table.key.map((_, i) => `:after_${i}`).join(', ')})
  order by ${table.key.join()} limit :rows`,
)

/** Returns the key before all records of a month. */
export const startOf = ({ resource, first_day }: Month): readonly KeyValue[] =>
  ARCHIVED_TABLES[resource].key.map((_, i) => (i === 0 ? first_day : ''))

/** Returns the key of a row. */
export const keyOfRow = (resource: ArchivedResource, row: StoredRow): KeyValue[] =>
  ARCHIVED_TABLES[resource].key.map((name) => row[name] ?? '')

const afterValues = (after: readonly KeyValue[]) =>
  Object.fromEntries(after.map((value, i) => [`after_${i}`, value]))

/** Reads the next records of a month behind a key, as SQL stores them. */
export const readStoredRows = (
  db: Connection,
  { account, resource, last_day }: Month,
  after: readonly KeyValue[],
  rows: number,
): Promise<StoredRow[]> =>
  all(db, READ_PAGE[resource], { account, last_day, rows, ...afterValues(after) })

/** Whether a month is being written, since a time. */
const IS_WRITING = `exists (select 1 from archived_months
    where ${OF_MONTH} and state = 'writing' and begun_at = :begun_at)`

const PUT_PART = compileStatement(`
  insert into archive_objects (account, resource, first_day, part, sha256, bytes, version, records, days, groups,
    deliveries, written_at, totals)
  select :account, :resource, :first_day, :part, :sha256, :bytes, :version, :records, :days, :groups,
    :deliveries, :written_at, :totals
  where ${IS_WRITING}
  on conflict do nothing`)

const PUT_IDS = compileStatement(`
  insert into archived_records (account, resource, id, first_day, part, row_group)
  select :account, :resource, value ->> 0, :first_day, :part, value ->> 1 from ${JSON_EACH}(:ids)
  where ${IS_WRITING}
  on conflict (account, resource, id) do update set first_day = excluded.first_day, part = excluded.part,
    row_group = excluded.row_group`)

const PUT_CUSTOMERS = compileStatement(`
  insert into archived_customers (account, customer_id, resource, first_day, records, deposits)
  select :account, value ->> 0, :resource, :first_day, json_object(:part_name, value -> 1),
    value -> 2
  from ${JSON_EACH}(:customers)
  where ${IS_WRITING}
  on conflict do update set records = json_patch(records, excluded.records),
    deposits = iif(excluded.deposits is null, deposits,
      json_patch(ifnull(deposits, '{}'), excluded.deposits))`)

/** What is noted of an object beside its manifest. */
export interface PartRecords {
  /** The ids of its records, each with its row group; empty if their key has their day. */
  readonly ids: readonly (readonly [id: string, row_group: number])[]
  /**
   * Its customers, each with the number of records by day, of which the first of the month is 0, and with the last day
   * of the deposits by status if there are any.
   */
  readonly customers: readonly (readonly [
    id: string,
    records: Readonly<Record<string, number>>,
    deposits?: Readonly<Record<string, number>>,
  ])[]
}

/** Adds an object to the manifest of a month that is being written. */
export async function putPart(
  db: Connection,
  { account, resource, first_day, begun_at }: ArchivedMonth,
  part: ArchivePart,
  { ids, customers }: PartRecords,
): Promise<void> {
  const place = { account, resource, first_day, begun_at, part: part.part }
  const part_name = String(part.part)
  await withD1Retry(() =>
    db.batch([
      bindStatement(db, PUT_PART, { ...place, ...part }),
      ...toJsonChunks(ids).map((chunk) => bindStatement(db, PUT_IDS, { ...place, ids: chunk })),
      ...toJsonChunks(customers).map((chunk) =>
        bindStatement(db, PUT_CUSTOMERS, { ...place, part_name, customers: chunk }),
      ),
    ]),
  )
}

const SEAL = forEachTable(
  (table) => `
  update archived_months set state = 'sealed', archived_at = :now, records = :records, fault = null
  where ${OF_MONTH} and state = 'writing' and begun_at = :begun_at
    and erasures = ${COUNT_ERASURES}
    and :records = (select coalesce(sum(o.records), 0) from archive_objects o
      where o.account = :account and o.resource = :resource and o.first_day = :first_day)
    and :records = ${KEPT_RECORDS}
    and ${mayBeArchived(table)}
  returning state`,
)

/**
 * Seals a month whose objects have this many records: from now on its records are those of the objects. Returns
 * false if a record has changed meanwhile.
 */
export async function sealMonth(
  db: Connection,
  { account, resource, first_day, last_day, begun_at, totals_at }: ArchivedMonth,
  { records, form, now }: { readonly records: number; readonly form: string; readonly now: number },
): Promise<boolean> {
  const month = { account, resource, first_day, last_day }
  const values = { ...month, begun_at, totals_at, records, form, now }
  return (await first(db, SEAL[resource], values)) !== null
}

/** The bytes of the control totals of a month's days up to which they are read. */
const MOST_TOTALS = 4 * 1024 * 1024

const DAY_TOTALS = compileStatement(`
  select totals, records from day_totals
  where account = :account and resource = :resource and day between :first_day and :last_day
    and form = :form and computation is null and totals is not null and checked_at <= :totals_at
    and (select total(octet_length(totals)) from day_totals where account = :account
      and resource = :resource and day between :first_day and :last_day) <= ${MOST_TOTALS}`)

/** The kept control totals of a day as JSON, and how many records they count. */
export interface DayTotals {
  readonly totals: string
  readonly records: number
}

/** Reads the control totals of the days of a month that were kept before it began; none if they are too large. */
export const readDayTotals = (
  db: Connection,
  { account, resource, first_day, last_day, totals_at }: ArchivedMonth,
  form: string,
): Promise<DayTotals[]> =>
  all(db, DAY_TOTALS, { account, resource, first_day, last_day, totals_at, form })

const IN_STATE = `exists (select 1 from archived_months where ${OF_MONTH} and state = :state)`

/** Deletes records of a sealed month. The triggers of their table know that, and leave what is derived from them. */
const DROP_RECORDS = forEachTable(
  (table) => `
  delete from ${table.table} where (account, ${table.key.join()}) in (
    select account, ${table.key.join()} from ${table.table} not indexed
    where ${inMonth(table)} and ${IN_STATE}
    order by ${table.key.join()} limit :rows)`,
)

const SET_ARCHIVED = forEachTable(
  (table) => `
  update archived_months set state = 'archived'
  where ${OF_MONTH} and state = 'sealed'
    and not exists (select 1 from ${table.table} where ${inMonth(table)})
  returning state`,
)

/** Deletes the next records of a sealed month. Returns whether none is left: the month is then archived. */
export async function dropRecords(
  db: Connection,
  { account, resource, first_day, last_day }: Month,
  rows: number,
): Promise<boolean> {
  const values = { account, resource, first_day, last_day, rows, state: 'sealed' }
  const results = await withD1Retry(() =>
    db.batch([
      bindStatement(db, DROP_RECORDS[resource], values),
      bindStatement(db, SET_ARCHIVED[resource], values),
    ]),
  )
  return (results[1]?.results.length ?? 0) > 0
}

const BEGIN_RESTORE = compileStatement(`
  update archived_months set state = 'restoring', fault = null
  where ${OF_MONTH} and state in ('sealed', 'archived')
  returning state`)

/** Begins to restore a month whose records have left. Returns false if there is no such month. */
export const beginRestore = async (
  db: Connection,
  { account, resource, first_day }: Month,
): Promise<boolean> => (await first(db, BEGIN_RESTORE, { account, resource, first_day })) !== null

const NEXT_PART = compileStatement(`
  select part, sha256, bytes, version, records, days, groups, deliveries, written_at,
    totals
  from archive_objects where ${OF_MONTH} and restored = 0 order by part limit 1`)

/** Reads the next object whose records are not back; null if there is none. */
export const readNextPart = (
  db: Connection,
  { account, resource, first_day }: Month,
): Promise<ArchivePart | null> => first(db, NEXT_PART, { account, resource, first_day })

/** No trigger runs when a record is inserted. */
const INSERT_ROWS = forEachTable(({ table, columns }) => {
  const cells = columns.map((_, i) => `value ->> ${i}`).join(', ')
  return `
  insert into ${table} (account, ${columns.map(({ name }) => name).join()})
  select :account, ${cells} from ${JSON_EACH}(:rows)
  where ${IN_STATE}
  on conflict do nothing`
})

/** Writes records of a month that is being restored, each as the values of its columns, as JSON. */
export const insertRows = (
  db: Connection,
  { account, resource, first_day }: Month,
  rows: string,
): Promise<unknown> =>
  withD1Retry(() =>
    bindStatement(db, INSERT_ROWS[resource], {
      ...{ account, resource, first_day, rows, state: 'restoring' },
    }).run(),
  )

const NOTE_RESTORED = compileStatement(`
  update archive_objects set restored = 1 where ${OF_MONTH} and part = :part`)

/** Notes that the records of an object are back. */
export const noteRestored = (
  db: Connection,
  { account, resource, first_day }: Month,
  part: number,
): Promise<unknown> =>
  withD1Retry(() => bindStatement(db, NOTE_RESTORED, { account, resource, first_day, part }).run())

/** Erasures for which a month comes back must reach it. Those of before it was archived have masked its records. */
const MASK_AGAIN = compileStatement(`
  update erasures set next_day = :first_day, after_id = ''
  where account = :account and (next_day is null or next_day > :first_day) and :resource = 'activities'
    and customer_id in (select c.customer_id from archived_customers c
      where c.account = :account and c.customer_id = erasures.customer_id
        and c.resource = :resource and c.first_day = :first_day)
    and exists (select 1 from archived_months where ${OF_MONTH} and state = 'restoring' and wanted_at = 0)`)

const END_RESTORE = forEachTable(
  (table) => `
  update archived_months set state = 'ended', wanted_at = iif(wanted_at = 0, 0, null)
  where ${OF_MONTH} and state = 'restoring'
    and not exists (select 1 from archive_objects where ${OF_MONTH} and restored = 0)
    and records = (select count(*) from ${table.table} where ${inMonth(table)})
  returning state`,
)

/** Ends the restoration of a month. Returns false if a record is missing. */
export async function endRestore(
  db: Connection,
  { account, resource, first_day, last_day }: Month,
): Promise<boolean> {
  const values = { account, resource, first_day, last_day }
  const results = await withD1Retry(() =>
    db.batch([
      bindStatement(db, MASK_AGAIN, values),
      bindStatement(db, END_RESTORE[resource], values),
    ]),
  )
  return (results[1]?.results.length ?? 0) > 0
}

const ABANDON = compileStatement(`
  update archived_months set state = 'ended', wanted_at = 0 where ${OF_MONTH} and state = 'writing'`)

/** Returns the statement that gives up a month that is being written. */
export const abandoned = (
  db: Connection,
  { account, resource, first_day }: Pick<Month, 'account' | 'resource' | 'first_day'>,
): D1PreparedStatement => bindStatement(db, ABANDON, { account, resource, first_day })

/** Gives up a month that is being written. */
export const abandonMonth = (db: Connection, month: Month): Promise<unknown> =>
  withD1Retry(() => abandoned(db, month).run())

const NOTE_FAULT = compileStatement(`
  update archived_months set fault = :fault where ${OF_MONTH} and state <> 'ended'`)

/** Notes which object of a month is damaged or missing. */
export const noteFault = (
  db: Connection,
  { account, resource, first_day }: Month,
  fault: string,
): Promise<unknown> =>
  withD1Retry(() => bindStatement(db, NOTE_FAULT, { account, resource, first_day, fault }).run())

const CLEAR_FAULT = compileStatement(`
  update archived_months set fault = null where account = :account and fault = :key`)

/** Notes that a damaged object was repaired. */
export const clearFault = (db: Connection, account: string, key: string): Promise<unknown> =>
  withD1Retry(() => bindStatement(db, CLEAR_FAULT, { account, key }).run())

/** Deletes the ids of the records between two keys. The records are in the database. */
const FORGET_IDS = forEachTable(
  ({ table, key, id }, resource) => `
  delete from archived_records where (account, resource, id) in (
    select account, '${resource}', ${id ?? 'null'} from ${table} not indexed
    where account = :account
      and (${key.join()}) >= (${key.map((_, i) => `:first ->> ${i}`).join(', ')})
      and (${key.join()}) <= (${key.map((_, i) => `:last ->> ${i}`).join(', ')}))
    and first_day = :first_day and exists (select 1 from archived_months
      where ${OF_MONTH} and state = 'ended')`,
)

const FORGET_PART = compileStatement(`
  delete from archive_objects where ${OF_MONTH} and part = :part and exists (
    select 1 from archived_months where ${OF_MONTH} and state = 'ended')`)

const FORGET_CUSTOMERS = compileStatement(`
  delete from archived_customers where (account, resource, first_day, customer_id) in (
    select account, resource, first_day, customer_id from archived_customers
    where ${OF_MONTH} and exists (
      select 1 from archived_months where ${OF_MONTH} and state = 'ended') limit :rows)`)

const FORGET_MONTH = compileStatement(`
  delete from archived_months where ${OF_MONTH} and state = 'ended'
    and not exists (select 1 from archive_objects where ${OF_MONTH})
    and not exists (select 1 from archived_customers where ${OF_MONTH})
  returning state`)

/** Has the objects of a month deleted soon: an erased customer is in them, or they were never used. */
const RETIRE_NOW = compileStatement(`
  update retired_archives set delete_at = 0
  where account = :account and prefix = :prefix and :soon`)

/** The customers whose rows one step deletes. */
const FORGOTTEN = 10_000

/** Deletes the next part of what was noted of a month that has ended. Returns whether nothing is left. */
export async function forgetStep(
  db: Connection,
  { account, resource, first_day, prefix, wanted_at }: ArchivedMonth,
): Promise<boolean> {
  const month = { account, resource, first_day }
  const [part] = await readParts(db, month)
  const groups: readonly [number, KeyValue[], KeyValue[]][] = part ? JSON.parse(part.groups) : []
  const [first, last] = [groups[0]?.[1], groups.at(-1)?.[2]].map((key) => JSON.stringify(key ?? []))
  const results = await withD1Retry(() =>
    db.batch([
      ...(part && ARCHIVED_TABLES[resource].id !== null
        ? [bindStatement(db, FORGET_IDS[resource], { ...month, first, last })]
        : []),
      ...(part ? [bindStatement(db, FORGET_PART, { ...month, part: part.part })] : []),
      bindStatement(db, FORGET_CUSTOMERS, { ...month, rows: FORGOTTEN }),
      bindStatement(db, FORGET_MONTH, month),
      bindStatement(db, RETIRE_NOW, { account, prefix, soon: Number(wanted_at === 0) }),
    ]),
  )
  return (results.at(-2)?.results.length ?? 0) > 0
}
