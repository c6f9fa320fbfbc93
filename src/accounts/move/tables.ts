import { all } from '../../platform/db/query.ts'
import { compileStatement } from '../../platform/db/statement.ts'
import { ACCOUNT_TABLES } from '../db/account-tables.ts'
import { CopyRefused } from './place.ts'

/** A column of a table, with its declared type: TEXT, INTEGER or REAL. */
interface Column {
  readonly name: string
  readonly type: string
}

interface Trigger {
  readonly name: string
  readonly sql: string
}

/** A table that a move copies. */
export interface MovedTable {
  readonly name: string
  readonly columns: readonly Column[]
  /** The columns of the primary key without the account. */
  readonly key: readonly string[]
  /** The triggers of the schema, in the order in which they were created. */
  readonly triggers: readonly Trigger[]
}

const READ_COLUMNS = compileStatement(`
  select t.value as "table", c.name, c.type, c.pk
  from json_each(:tables) t cross join pragma_table_info(t.value) c order by t.key, c.cid`)

const READ_TRIGGERS = compileStatement(`
  select tbl_name as "table", name, sql from sqlite_schema
  where type = 'trigger' order by rowid`)

const HAS_ACCOUNTS = compileStatement('select exists (select 1 from accounts) as is_directory')

/** The tables of a database, and whether it is the directory. */
export interface Description {
  readonly isDirectory: boolean
  readonly tables: readonly MovedTable[]
}

/** Reads the columns and triggers of the tables of accounts. */
export async function describeTables(db: D1Database): Promise<Description> {
  const [columns, triggers, [directory]] = await Promise.all([
    all<Column & { table: string; pk: number }>(db, READ_COLUMNS, {
      tables: JSON.stringify(ACCOUNT_TABLES),
    }),
    all<Trigger & { table: string }>(db, READ_TRIGGERS),
    all<{ is_directory: 0 | 1 }>(db, HAS_ACCOUNTS),
  ])
  const columnsOf = Map.groupBy(columns, ({ table }) => table)
  const triggersOf = Map.groupBy(triggers, ({ table }) => table)
  const tables = ACCOUNT_TABLES.map((name): MovedTable => {
    // A database that lacks a migration lacks tables, too.
    const found = columnsOf.get(name) ?? []
    return {
      name,
      columns: found.map((column) => ({ name: column.name, type: column.type })),
      key: found
        .filter((column) => column.pk > 0 && column.name !== 'account')
        .sort((a, b) => a.pk - b.pk)
        .map((column) => column.name),
      triggers: (triggersOf.get(name) ?? []).map((trigger) => {
        return { name: trigger.name, sql: trigger.sql }
      }),
    }
  })
  return { isDirectory: directory?.is_directory === 1, tables }
}

/** Returns what is the same in two databases with the same migrations. */
const shapeOf = ({ tables }: Description): string =>
  JSON.stringify(
    tables.map(({ triggers, ...table }) => {
      return { ...table, triggers: triggers.map(({ name, sql }) => `${name} ${sql}`).sort() }
    }),
  )

/**
 * Returns the tables of both databases that a move copies. The audit log of the directory stays there.
 *
 * @throws CopyRefused if their tables or triggers differ.
 */
export async function commonTables(
  source: D1Database,
  target: D1Database,
): Promise<readonly MovedTable[]> {
  const [from, to] = await Promise.all([describeTables(source), describeTables(target)])
  if (shapeOf(from) !== shapeOf(to)) throw new CopyRefused('tables_differ')
  // Those of the target: its triggers are dropped and created again, in the order that they have there.
  return to.tables.filter(({ name }) => !(from.isDirectory && name === 'audit_log'))
}

/** Returns a name as SQL. */
export const quoted = (name: string): string => `"${name}"`
