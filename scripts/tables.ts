import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

// Writes the tables that src/ reads and writes from the migrations.

/** The columns with a type of src/platform/db/column-types.ts, by the type that SQL declares. */
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

/** The types of values in code, by the type of a column. */
const VALUE_TYPES: Record<string, string> = {
  text: 'string',
  real: 'number',
  integer: 'number',
  day: 'string',
  instant: 'string',
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

const quoted = (names: readonly string[]) => names.map((name) => `'${name}'`).join(', ')

/** Returns the values that a CHECK constraint allows for a column, as a type; '' if there is none. */
function allowedValues(sql: string, column: string): string {
  const [, list] = new RegExp(`\\(${column} IN \\(([^)]*)\\)`, 'i').exec(sql) ?? []
  return list?.trim().replaceAll(/,\s*/g, ' | ') ?? ''
}

/** Returns the columns of the unique index besides the primary key; null if a table has none. */
function uniqueKeyOf(table: string): string[] | null {
  const [index] = db
    .prepare(`select name from pragma_index_list(?) where "unique" = 1 and origin = 'c'`)
    .all(table)
  if (!index) return null
  const columns = db
    .prepare('select name from pragma_index_info(?) order by seqno')
    .all(index.name!)
  return columns.map(({ name }) => String(name))
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

/** Returns the declaration of a table. */
function tableOf(table: string): string {
  const columns = columnsOf(table)
  const { sql } = db.prepare('select sql from sqlite_schema where name = ?').get(table) as {
    sql: string
  }
  const typed = columns.map(({ name, type, notnull, pk }) => {
    const stored = COLUMN_TYPES[type]?.[name] ?? type.toLowerCase()
    const value = (type === 'TEXT' && allowedValues(sql, name)) || VALUE_TYPES[stored]
    return { name, stored, value: notnull || pk ? value : `${value} | null` }
  })
  const unique = uniqueKeyOf(table)
  return `/** The table \`${table}\`, which migrations/ describes. */
export const ${camel(table)} = {
  name: ${quoted([table])},
  columns: { ${typed.map(({ name, stored }) => `${name}: '${stored}'`).join(', ')} },
  primaryKey: [${quoted(primaryKeyOf(columns))}],
  uniqueKey: ${unique && `[${quoted(unique)}]`},
} as object as Table<{
${typed.map(({ name, value }) => `  ${name}: ${value}`).join('\n')}
}>
`
}

const tables = db
  .prepare("select name from sqlite_schema where type = 'table' order by rowid")
  .all()
  .map(({ name }) => tableOf(String(name)))
const rows = ROWS.map(
  ([table, name, comment]) => `/** ${comment} */
export type ${name} = typeof ${camel(table)}.$inferSelect
`,
)

const PATH = 'src/platform/db/schema.ts'
const schema = `// Written by scripts/tables.ts from migrations/.

import type { Table } from './table.ts'

${[...tables, ...rows].join('\n')}`
// Unchanged files keep their time: see openapi.ts.
if (!existsSync(PATH) || readFileSync(PATH, 'utf8') !== schema) writeFileSync(PATH, schema)
