import { isDoorOpen } from '../door.ts'
import {
  activity,
  closedStates,
  customerAffiliations,
  customerFields,
  customers,
  dayTotals,
  deliveries,
  deliveryTerms,
  events,
  idempotencyKeys,
  ledger,
  statementLines,
  statements,
  transactions,
} from '../schema.ts'
import { compileStatement, required } from '../statement.ts'
import { columnNames, primaryKeyOf, type Table, tableName } from '../table.ts'
import { columnList, rowValue } from './sql-fragments.ts'

/** Returns the SQL of the bytes that an account stores; errs only upward. */
export const usageSql = (account: string) => `(
            coalesce((select bytes from storage where account = ${account}), 0)
            + coalesce((select sum(logged_bytes + written_bytes) from arrivals
                where account = ${account} and hour >= coalesce(
                  (select until_hour from storage where account = ${account}), 0)), 0))`

/** The bytes that the account of a delivery stores. */
export const USAGE = usageSql(':account')

/**
 * Adds what is stored without a delivery, such as statements, to what an account stores. A draft that is
 * replaced counts again until the account is measured.
 */
export const ADD_STORED_BYTES = compileStatement(`
      insert into storage (account, bytes, until_hour) values (:account, :bytes, 0)
      on conflict (account) do update set bytes = bytes + excluded.bytes`)

/**
 * Adds what accounts wrote before the hour `:hour` to `bytes`, so that later readers sum few rows of
 * `arrivals`. `:accounts` is a JSON array of ids.
 */
export const ROLL_UP = `
      insert into storage (account, bytes, until_hour)
      select r.account, sum(r.logged_bytes + r.written_bytes), :hour
      from json_each(:accounts) a
      left join storage s on s.account = a.value
      cross join arrivals r on r.account = a.value and r.hour < :hour
        and r.hour >= coalesce(s.until_hour, 0) and ${isDoorOpen('a.value')}
      group by r.account
      on conflict (account) do update set bytes = bytes + excluded.bytes, until_hour = :hour`

/**
 * Reads what accounts store, with the last measurement. `:accounts` is a JSON array of ids.
 */
export const SELECT_USAGES = `
      select a.value as account, ${usageSql('a.value')} as bytes, s.measured_at, s.measured_bytes,
        s.measuring
      from json_each(:accounts) a left join storage s on s.account = a.value`

/** Reads what is counted from an hour on. */
export const SELECT_COUNTED = `
      select coalesce(sum(logged_bytes + written_bytes), 0) as bytes from arrivals
      where account = :account and hour >= :hour`

/** The tables that are measured, in this order. Clicks are not the account's doing. */
const MEASURED: readonly { table: Table; isIndexed: boolean }[] = [
  { table: customers, isIndexed: true },
  { table: transactions, isIndexed: true },
  { table: activity, isIndexed: false },
  { table: events, isIndexed: true },
  { table: deliveries, isIndexed: false },
  { table: deliveryTerms, isIndexed: false },
  { table: idempotencyKeys, isIndexed: false },
  { table: dayTotals, isIndexed: false },
  { table: customerAffiliations, isIndexed: false },
  { table: customerFields, isIndexed: false },
  { table: closedStates, isIndexed: false },
  { table: statements, isIndexed: true },
  { table: statementLines, isIndexed: false },
  { table: ledger, isIndexed: false },
]

/** The names of the tables that are measured. */
export const MEASURED_TABLES = MEASURED.map(({ table }) => tableName(table))

/** The rows that one statement of a measurement reads. */
export const MEASURED_ROWS = 10_000

/**
 * Returns the bytes that an entry of a B-tree takes, without the free space of its page: an entry of
 * more than about 1000 bytes continues on pages of its own. Numbers are measured as text, which is
 * longer, and makes up for most of the free space.
 */
const entryBytes = (payload: string) =>
  `iif(${payload} <= 1000, (${payload} + 12) * 1.2, 700 + (${payload} / 4092 + 1) * 4096)`

/**
 * Measures the next rows of a table along its primary key: those after the key `:after_0`, …, or the
 * first ones. Returns their number, their bytes with those of their index entries, and the last key.
 */
export function measureSql(name: string, isFirst: boolean): string {
  const { table, isIndexed } = required(
    MEASURED.find((one) => tableName(one.table) === name),
    `measurement of ${name}`,
  )
  const key = primaryKeyOf(table).filter((column) => column !== 'account')
  const length = (column: string) => `coalesce(octet_length(${column}), 0)`
  const columns = columnNames(table).map(length)
  const after = rowValue(key, (column) => `:after_${key.indexOf(column)}`)
  return `
      with step as materialized (
        select ${columnList(key)}, ${columns.join(' + ')} + ${columns.length} as payload,
          octet_length(account) + ${key.map(length).join(' + ')} + ${key.length + 1} as entry
        from ${name}
        where account = :account${isFirst ? '' : ` and ${rowValue(key, (column) => column)} > ${after}`}
        order by ${columnList(key)} limit ${MEASURED_ROWS}
      )
      select count(*) as found,
        cast(coalesce(sum(${entryBytes('payload')}${isIndexed ? ` + ${entryBytes('entry')}` : ''}), 0)
          as integer) as bytes,
        (select json_array(${columnList(key)}) from step
          order by ${columnList(key, (column) => `${column} desc`)} limit 1) as last
      from step`
}
