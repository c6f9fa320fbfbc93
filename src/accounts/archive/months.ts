import {
  ARCHIVED_TABLES,
  type ArchivedResource,
  type ArchivedTable,
} from '../../platform/db/archive-tables.ts'
import type { Connection } from '../../platform/db/database.ts'
import { isDoorOpen } from '../../platform/db/door.ts'
import { toJsonChunks } from '../../platform/db/json-chunks.ts'
import { type FoundPage, type Page, paginate } from '../../platform/db/paginate.ts'
import { all, first } from '../../platform/db/query.ts'
import { withD1Retry } from '../../platform/db/retry.ts'
import { JSON_EACH } from '../../platform/db/sql-fragments.ts'
import { bindStatement, compileStatement, type Statement } from '../../platform/db/statement.ts'

/** A month of an account; days are since 1970. */
export interface Month {
  readonly account: string
  readonly resource: ArchivedResource
  readonly first_day: number
  readonly last_day: number
}

/** A month that is archived, leaves or comes back; the migration explains the states. */
export interface ArchivedMonth extends Month {
  readonly state: 'leaving' | 'archived' | 'loading'
  readonly records: number
  /** In milliseconds. */
  readonly begun_at: number
  readonly archived_at: number | null
}

/** An object of an archived month. */
export interface ArchivePart {
  readonly part: number
  readonly sha256: string
  readonly bytes: number
  readonly records: number
  /** The key of its last record, as JSON. */
  readonly last_key: string
  /** 1 once its records are back in the database. */
  readonly loaded: 0 | 1
}

/** A value of a primary key. */
export type KeyValue = string | number

/** A row as SQL stores it, without its account. */
export type StoredRow = Readonly<Record<string, string | number | null>>

const forEachTable = (
  toSql: (table: ArchivedTable, resource: ArchivedResource) => string,
): Record<ArchivedResource, Statement> => {
  const of = (resource: ArchivedResource) =>
    compileStatement(toSql(ARCHIVED_TABLES[resource], resource))
  return { 'trading-activity': of('trading-activity'), activities: of('activities') }
}

const OF_MONTH = 'account = :account and first_day = :first_day'

/** The records of a month that leave. */
const inMonth = ({ dayColumn, leaves }: ArchivedTable) =>
  `account = :account and ${dayColumn} between :first_day and :last_day and ${leaves}`

const isWorking = (table: string, condition: string) =>
  `exists (select 1 from ${table} where account = :account and ${condition})`

/** The work that must end before a month leaves or comes back. */
const OTHER_WORK = [
  isWorking('resets', 'true'),
  isWorking('erasures', 'next_day is not null'),
  isWorking('statement_runs', `status = 'running'`),
].join(' or ')

const BEGIN = forEachTable(
  (table, resource) => `
  insert into archived_months (account, resource, first_day, last_day, state, begun_at, records, days)
  select :account, '${resource}', :first_day, :last_day, 'leaving', :now, sum(n), json_group_array(day)
  from (select ${table.dayColumn} as day, count(*) as n from ${table.table} not indexed
    where ${inMonth(table)} group by 1)
  where not (${OTHER_WORK})
  having count(*) > 0
  on conflict do nothing`,
)

/**
 * Returns the statement that begins to archive a month: from then on nothing is written to it, and nothing is computed
 * from its records. It does nothing if the month is archived already, has no records, or other work goes on.
 */
export const beginMonth = (
  db: Connection,
  { account, resource, first_day, last_day }: Month,
  now: number,
): D1PreparedStatement => bindStatement(db, BEGIN[resource], { account, first_day, last_day, now })

const MONTH_COLUMNS = [
  'account',
  'resource',
  'first_day',
  'last_day',
  'state',
  'records',
  'begun_at',
  'archived_at',
]

const READ_MONTH = compileStatement(
  `select ${MONTH_COLUMNS.join()} from archived_months where ${OF_MONTH}`,
)

/** Reads an archived month; null if it is not archived. */
export const readMonth = (
  db: Connection,
  account: string,
  first_day: number,
): Promise<ArchivedMonth | null> => first(db, READ_MONTH, { account, first_day })

const MOVING = compileStatement(`
  select ${MONTH_COLUMNS.join()} from archived_months indexed by archived_months_moving
  where state <> 'archived' and ${isDoorOpen('account')} order by account, first_day limit 20`)

/** Reads at most 20 months of all accounts that leave or come back. */
export const movingMonths = (db: Connection): Promise<ArchivedMonth[]> => all(db, MOVING)

/** An archived month with the bytes of its objects. */
export type ListedMonth = ArchivedMonth & { readonly bytes: number }

/** Reads one page of the archived months of an account, the first one first. */
export const listArchivedMonths = (
  db: D1Database,
  account: string,
  page: Page,
): Promise<FoundPage<ListedMonth>> =>
  paginate<ListedMonth>(
    db.withSession('first-unconstrained'),
    {
      columns: [...MONTH_COLUMNS, 'bytes'],
      from: `(select m.*, (select ifnull(sum(bytes), 0) from archive_objects o
          where o.account = m.account and o.first_day = m.first_day) as bytes
        from archived_months m) where account = :account`,
      key: ['first_day'],
      values: { account },
    },
    page,
  )

const READ_PARTS = compileStatement(`
  select part, sha256, bytes, records, last_key, loaded from archive_objects where ${OF_MONTH} order by part`)

/** Reads the objects of a month, in the order of their records. */
export const readParts = (
  db: Connection,
  { account, first_day }: Pick<Month, 'account' | 'first_day'>,
): Promise<ArchivePart[]> => all(db, READ_PARTS, { account, first_day })

/** The records of a month behind a key, in the order of the primary key. */
const READ_PAGE = forEachTable(
  ({ table, dayColumn, key, leaves, columns }) => `
  select ${columns.join()} from ${table} not indexed
  where account = :account and ${dayColumn} <= :last_day and ${leaves}
    and (${key.join()}) > (${key.map((_, i) => `:after_${i}`).join(', ')})
  order by ${key.join()} limit :rows`,
)

/** Returns the key before all records of a month. */
export const startOf = ({ resource, first_day }: Month): KeyValue[] =>
  ARCHIVED_TABLES[resource].key.map((_, i) => (i === 0 ? first_day : ''))

/** Returns the key of a row. */
export const keyOfRow = (resource: ArchivedResource, row: StoredRow): KeyValue[] =>
  ARCHIVED_TABLES[resource].key.map((name) => row[name] ?? '')

/** Reads the next records of a month behind a key, as SQL stores them. */
export const readStoredRows = (
  db: Connection,
  { account, resource, last_day }: Month,
  after: readonly KeyValue[],
  rows: number,
): Promise<StoredRow[]> =>
  all(db, READ_PAGE[resource], {
    account,
    last_day,
    rows,
    ...Object.fromEntries(after.map((value, i) => [`after_${i}`, value])),
  })

const inState = (state: ArchivedMonth['state']) =>
  `exists (select 1 from archived_months where ${OF_MONTH} and state = '${state}')`

const PUT_PART = compileStatement(`
  insert into archive_objects (account, first_day, part, sha256, bytes, records, last_key)
  select :account, :first_day, :part, :sha256, :bytes, :records, :last_key where ${inState('leaving')}
  on conflict (account, first_day, part) do nothing`)

const PUT_CUSTOMERS = compileStatement(`
  insert into archived_customers (account, customer_id, first_day)
  select :account, value, :first_day from ${JSON_EACH}(:ids) where ${inState('leaving')}
  on conflict do nothing`)

/** Notes an object of a month that leaves, and the customers of its records. */
export async function putPart(
  db: Connection,
  { account, first_day }: Month,
  part: Omit<ArchivePart, 'loaded'>,
  customers: readonly string[],
): Promise<void> {
  const values = { account, first_day }
  await withD1Retry(() =>
    db.batch([
      ...toJsonChunks(customers).map((ids) => bindStatement(db, PUT_CUSTOMERS, { ...values, ids })),
      bindStatement(db, PUT_PART, { ...values, ...part }),
    ]),
  )
}

/** All records of the month are in its objects. */
const IS_WHOLE = `(select sum(records) from archive_objects where ${OF_MONTH})
      = (select records from archived_months where ${OF_MONTH})`

/** Deletes records. The triggers of their table know that, and leave what is derived from them. */
const DROP_RECORDS = forEachTable(
  (table) => `
  delete from ${table.table} where (account, ${table.key.join()}) in (
    select account, ${table.key.join()} from ${table.table} not indexed
    where ${inMonth(table)} and ${inState('leaving')} and ${IS_WHOLE}
    order by ${table.key.join()} limit :rows)`,
)

const SET_ARCHIVED = forEachTable(
  (table) => `
  update archived_months set state = 'archived', archived_at = :now
  where ${OF_MONTH} and state = 'leaving' and ${IS_WHOLE}
    and not exists (select 1 from ${table.table} where ${inMonth(table)})
  returning state`,
)

/** Deletes the next records of a month whose objects are whole. Returns whether none is left: it is then archived. */
export async function dropRecords(
  db: Connection,
  { account, resource, first_day, last_day }: Month,
  values: { readonly rows: number; readonly now: number },
): Promise<boolean> {
  const all = { account, first_day, last_day, ...values }
  const results = await withD1Retry(() =>
    db.batch([
      bindStatement(db, DROP_RECORDS[resource], all),
      bindStatement(db, SET_ARCHIVED[resource], all),
    ]),
  )
  return (results[1]?.results.length ?? 0) > 0
}

const BEGIN_LOAD = compileStatement(`
  update archived_months set state = 'loading'
  where ${OF_MONTH} and not (${OTHER_WORK})`)

/** Returns the statement that begins to load a month; it does nothing while other work goes on. */
export const beginLoad = (
  db: Connection,
  account: string,
  first_day: number,
): D1PreparedStatement => bindStatement(db, BEGIN_LOAD, { account, first_day })

/** No trigger runs when a record is inserted. */
const INSERT_ROWS = forEachTable(({ table, columns }) => {
  const cells = columns.map((_, i) => `value ->> ${i}`).join(', ')
  return `
  insert into ${table} (account, ${columns.join()})
  select :account, ${cells} from ${JSON_EACH}(:rows) where ${inState('loading')}
  on conflict do nothing`
})

/** Writes records of a month that is loaded, each as the values of its columns, as JSON. */
export const insertRows = (
  db: Connection,
  { account, resource, first_day }: Month,
  rows: string,
): Promise<unknown> =>
  withD1Retry(() => bindStatement(db, INSERT_ROWS[resource], { account, first_day, rows }).run())

const NOTE_LOADED = compileStatement(
  `update archive_objects set loaded = 1 where ${OF_MONTH} and part = :part and ${inState('loading')}`,
)

/** Notes that the records of an object are back in the database. */
export const noteLoaded = (
  db: Connection,
  { account, first_day }: Month,
  part: number,
): Promise<unknown> =>
  withD1Retry(() => bindStatement(db, NOTE_LOADED, { account, first_day, part }).run())

const END_LOAD = forEachTable(
  (table) => `
  delete from archived_months
  where ${OF_MONTH} and state = 'loading'
    and records = (select count(*) from ${table.table} not indexed where ${inMonth(table)})
  returning state`,
)

const FORGET = ['archive_objects', 'archived_customers'].map((table) =>
  compileStatement(`delete from ${table} where ${OF_MONTH}
    and not exists (select 1 from archived_months where ${OF_MONTH})`),
)

/** Ends the loading of a month. Returns false if a record is missing: nothing has changed then. */
export async function endLoad(
  db: Connection,
  { account, resource, first_day, last_day }: Month,
): Promise<boolean> {
  const [ended] = await withD1Retry(() =>
    db.batch([
      bindStatement(db, END_LOAD[resource], { account, first_day, last_day }),
      ...FORGET.map((one) => bindStatement(db, one, { account, first_day })),
    ]),
  )
  return (ended?.results.length ?? 0) > 0
}

const REPLACE_PART = compileStatement(`
  update archive_objects set sha256 = :sha256, bytes = :bytes where ${OF_MONTH} and part = :part`)

/** Has an object of a month replaced by another one with the same records. */
export const replacePart = (
  db: Connection,
  { account, first_day }: Month,
  { part, sha256, bytes }: Pick<ArchivePart, 'part' | 'sha256' | 'bytes'>,
): Promise<unknown> =>
  withD1Retry(() =>
    bindStatement(db, REPLACE_PART, { account, first_day, part, sha256, bytes }).run(),
  )

const TO_ERASE = compileStatement(`
  select ${MONTH_COLUMNS.map((name) => `m.${name}`).join()}
  from archived_customers a cross join archived_months m on m.account = a.account and m.first_day = a.first_day
  where a.account = :account and a.customer_id = :customer_id and a.erased = 0 and m.state = 'archived'
  order by m.first_day limit 1`)

/** Returns the first archived month whose objects have records of a customer, as stored, that are not erased. */
export const nextMonthToErase = (
  db: Connection,
  account: string,
  customer_id: string,
): Promise<ArchivedMonth | null> => first(db, TO_ERASE, { account, customer_id })

const NOTE_ERASED = compileStatement(
  `update archived_customers set erased = 1 where ${OF_MONTH} and customer_id = :customer_id`,
)

/** Notes that the records of a customer are erased in the objects of a month. */
export const noteErased = (
  db: Connection,
  { account, first_day }: Month,
  customer_id: string,
): Promise<unknown> =>
  withD1Retry(() => bindStatement(db, NOTE_ERASED, { account, first_day, customer_id }).run())
