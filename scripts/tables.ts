import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

// Writes the tables that src/ reads and writes from the migrations: the types of their rows, which are those of Drizzle, and
// what runs, which has no Drizzle.

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

/** The row types that other folders import. */
const ROWS = [
  ['accounts', 'Account', 'An account as configured.'],
  ['deliveries', 'Delivery', 'A row of the delivery log.'],
  ['account_moves', 'AccountMove', 'A move of an account to another database.'],
] as const

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

/** Returns the values that a CHECK constraint allows for a column, as an option of Drizzle. */
function allowedValues(sql: string, column: string): string {
  const [, list] = new RegExp(`\\(${column} IN \\(([^)]*)\\)`, 'i').exec(sql) ?? []
  return list ? `{ enum: [${list.trim()}] }` : ''
}

/** Returns the columns of the unique index besides the primary key; null if a table has none. */
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

/** A column as it is stored, and whether it is never null. */
const storedColumns = (table: string) => {
  const columns = columnsOf(table)
  const isAlone = primaryKeyOf(columns).length === 1
  return columns.map(({ name, type, notnull, pk }) => ({
    name,
    kind: COLUMN_TYPES[type]?.[name] ?? type.toLowerCase(),
    isNeverNull: notnull === 1 || (pk > 0 && isAlone),
  }))
}

/** Returns the declaration of a table's rows. */
function rowsOf(table: string): string {
  const { sql } = db.prepare('select sql from sqlite_schema where name = ?').get(table) as {
    sql: string
  }
  const lines = storedColumns(table).map(({ name, kind, isNeverNull }) => {
    const options = kind === 'text' ? allowedValues(sql, name) : ''
    return `  ${name}: ${kind}(${options})${isNeverNull ? '.notNull()' : ''},`
  })
  return `/** The rows of the table \`${table}\`, which migrations/ describes. */
export const ${camel(table)} = sqliteTable('${table}', {
${lines.join('\n')}
})
`
}

/** Returns the value of a table. */
function tableOf(table: string): string {
  const columns = storedColumns(table).map(({ name, kind }) => `${name}: ${kind}`)
  const unique = uniqueKeyOf(table)
  return `/** The table \`${table}\`. */
export const ${camel(table)}: Table<typeof rows.${camel(table)}.$inferSelect> = {
  name: '${table}',
  columns: { ${columns.join(', ')} },
  primaryKey: ${quoted(primaryKeyOf(columnsOf(table)))},
  uniqueKey: ${unique ? quoted(unique) : null},
}
`
}

const names = db
  .prepare("select name from sqlite_schema where type = 'table' order by rowid")
  .all()
  .map(({ name }) => String(name))
const rows = ROWS.map(
  ([table, name, comment]) => `/** ${comment} */
export type ${name} = typeof ${camel(table)}.$inferSelect
`,
)

const WRITTEN = '// Written by scripts/tables.ts from migrations/.'

const schema = `${WRITTEN}
// Only types are read of it, so that Drizzle is not in the script.

import { customType, integer, real, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** A day or a point in time: a text on the wire, and a number in the database. */
const day = customType<{ data: string; driverData: number }>({ dataType: () => 'integer' })
const instant = day

${[...names.map(rowsOf), ...rows].join('\n')}`

const values = `${WRITTEN}

import { day, instant, integer, real, text } from './column-types.ts'
import type * as rows from './schema.ts'
import type { Table } from './table.ts'

${names.map(tableOf).join('\n')}`

for (const [path, text] of [
  ['src/platform/db/schema.ts', schema],
  ['src/platform/db/tables.ts', values],
] as const) {
  // Unchanged files keep their time: see openapi.ts.
  if (!existsSync(path) || readFileSync(path, 'utf8') !== text) writeFileSync(path, text)
}
