import { ACCOUNT_TABLES } from '../account-tables.ts'
import { all } from '../query.ts'
import { compileStatement } from '../statement.ts'

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

/** How the names of the triggers begin that a move creates. */
export const MOVE_TRIGGER = 'move_'

const READ_COLUMNS = compileStatement(`
  select t.value as "table", c.name, c.type, c.pk
  from json_each(:tables) t cross join pragma_table_info(t.value) c order by t.key, c.cid`)

const READ_TRIGGERS = compileStatement(`
  select tbl_name as "table", name, sql from sqlite_schema
  where type = 'trigger' and substr(name, 1, ${MOVE_TRIGGER.length}) <> '${MOVE_TRIGGER}'
  order by rowid`)

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

/** Returns a name as SQL. */
export const quoted = (name: string): string => `"${name}"`
