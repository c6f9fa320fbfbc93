import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

// Writes the tables that src/ reads and writes with Drizzle from the migrations.

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
  /** The default as an SQL literal, which is also one of JavaScript; null if there is none. */
  dflt_value: string | null
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

const quoted = (names: readonly string[]) => names.map((name) => `'${name}'`).join(', ')

/** Returns the values that a CHECK constraint allows for a column, as an option of Drizzle. */
function allowedValues(sql: string, column: string): string {
  const [, list] = new RegExp(`\\(${column} IN \\(([^)]*)\\)`, 'i').exec(sql) ?? []
  return list ? `{ enum: [${list.trim()}] }` : ''
}

/** Returns the unique index besides the primary key; null if a table has none. */
function uniqueIndexOf(table: string): { name: string; columns: string[] } | null {
  const [index] = db
    .prepare(`select name from pragma_index_list(?) where "unique" = 1 and origin = 'c'`)
    .all(table)
  if (!index) return null
  const name = String(index.name)
  const columns = db.prepare('select name from pragma_index_info(?) order by seqno').all(name)
  return { name, columns: columns.map((column) => String(column.name)) }
}

const columnsOf = (table: string) =>
  db
    .prepare('select name, type, "notnull", dflt_value, pk from pragma_table_info(?)')
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
  const key = primaryKeyOf(columns)
  const isAlone = key.length === 1
  const lines = columns.map(({ name, type, notnull, dflt_value, pk }) => {
    const primary = isAlone && pk > 0 ? '.primaryKey()' : ''
    const needed = notnull && !primary ? '.notNull()' : ''
    const preset = dflt_value === null ? '' : `.default(${dflt_value})`
    const columnType = COLUMN_TYPES[type]?.[name]
    const options = type === 'TEXT' ? allowedValues(sql, name) : ''
    return `  ${name}: ${columnType ?? type.toLowerCase()}(${options})${primary}${needed}${preset},`
  })
  const columnsIn = (names: readonly string[]) => names.map((name) => `t.${name}`).join(', ')
  const unique = uniqueIndexOf(table)
  const keys = [
    ...(isAlone ? [] : [`primaryKey({ columns: [${columnsIn(key)}] })`]),
    ...(unique ? [`uniqueIndex('${unique.name}').on(${columnsIn(unique.columns)})`] : []),
  ]
  const more = keys.length === 0 ? '' : `, (t) => [${keys.join(', ')}]`
  // Columns in a function, and the annotation: esbuild drops the tables that only types name.
  return `/** The table \`${table}\`, which migrations/ describes. */
export const ${camel(table)} = /* @__PURE__ */ sqliteTable(${quoted([table])}, () => ({
${lines.join('\n')}
})${more})
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

import { integer, primaryKey, real, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { day, instant } from './column-types.ts'

${[...tables, ...rows].join('\n')}`
// Unchanged files keep their time: see openapi.ts.
if (!existsSync(PATH) || readFileSync(PATH, 'utf8') !== schema) writeFileSync(PATH, schema)
