import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

// Writes the tables that src/ reads and writes, and the types of their rows, from the migrations.

/** The columns that are stored in another form than that of the wire, by the type that SQL declares. */
const COLUMN_TYPES: Record<string, Record<string, string>> = {
  INTEGER: {
    day: 'day',
    date: 'day',
    first_day: 'day',
    signup_date: 'instant',
    last_modified_date: 'instant',
    transaction_date: 'instant',
    createtime: 'instant',
  },
}

/** The names of the row types that are not called after their table. */
const ROWS: Record<string, string> = {
  accounts: 'Account',
  deliveries: 'Delivery',
  account_moves: 'AccountMove',
}

interface Column {
  name: string
  type: string
  notnull: number
  pk: number
}

const db = new DatabaseSync(':memory:')
for (const file of readdirSync('migrations').sort()) {
  try {
    db.exec(readFileSync(`migrations/${file}`, 'utf8'))
  } catch (error) {
    // `npm run dev` goes on: `migrate` reports it.
    if (process.env.WRANGLER_COMMAND !== 'dev') throw error
  }
}

const camel = (name: string) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())

const quoted = (names: readonly string[]) => `[${names.map((name) => `'${name}'`).join(', ')}]`

/** Returns the values that a CHECK constraint allows for a column, as a type; any text if there is none. */
function textType(sql: string, column: string): string {
  const [, list] = new RegExp(`\\(${column} IN \\(([^)]*)\\)`, 'i').exec(sql) ?? []
  return list ? list.trim().split(/,\s*/).join(' | ') : 'string'
}

/** Returns the unique index besides the primary key; null if a table has none. */
function uniqueKeyOf(table: string): string[] | null {
  const [index] = db
    .prepare(`select name from pragma_index_list(?) where "unique" = 1 and origin = 'c'`)
    .all(table)
  if (!index) return null
  const columns = db
    .prepare('select name from pragma_index_info(?) order by seqno')
    .all(String(index.name))
  return columns.map((column) => String(column.name))
}

const columnsOf = (table: string) =>
  db
    .prepare('select name, type, "notnull", pk from pragma_table_info(?)')
    .all(table) as unknown as Column[]

const primaryKeyOf = (columns: readonly Column[]) =>
  columns
    .filter(({ pk }) => pk > 0)
    .sort((a, b) => a.pk - b.pk)
    .map(({ name }) => name)

/** Returns the type of a table's rows and the declaration of the table. */
function tableOf(table: string): string {
  const columns = columnsOf(table)
  const { sql } = db.prepare('select sql from sqlite_schema where name = ?').get(table) as {
    sql: string
  }
  const key = primaryKeyOf(columns)
  const unique = uniqueKeyOf(table)
  const kinds = columns.map(({ name, type }) => COLUMN_TYPES[type]?.[name] ?? type.toLowerCase())
  const types = columns.map(({ name, notnull, pk }, i) => {
    const isNever = notnull || (pk > 0 && key.length === 1)
    const isNumber = kinds[i] === 'integer' || kinds[i] === 'real'
    return `  ${name}: ${isNumber ? 'number' : textType(sql, name)}${isNever ? '' : ' | null'}`
  })
  const name = camel(table)
  const row = ROWS[table] ?? `${name.charAt(0).toUpperCase()}${name.slice(1)}Row`
  return `/** A row of the table \`${table}\`, which migrations/ describes. */
export type ${row} = {
${types.join('\n')}
}

/** The table \`${table}\`. */
export const ${name}: Table<${row}> = {
  name: '${table}',
  columns: { ${columns.map((column, i) => `${column.name}: ${kinds[i]}`).join(', ')} },
  primaryKey: ${quoted(key)},
  uniqueKey: ${unique ? quoted(unique) : null},
}
`
}

const tables = db
  .prepare("select name from sqlite_schema where type = 'table' order by rowid")
  .all()
  .map(({ name }) => tableOf(String(name)))

const PATH = 'src/platform/db/schema.ts'
const schema = `// Written by scripts/tables.ts from migrations/.

import { day, instant, integer, real, text } from './column-types.ts'
import type { Table } from './table.ts'

${tables.join('\n')}`
// Unchanged files keep their time: see openapi.ts.
if (!existsSync(PATH) || readFileSync(PATH, 'utf8') !== schema) writeFileSync(PATH, schema)
