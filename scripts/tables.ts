import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { readOptions } from './said.ts'

/** Writes src/db/schema.ts from what the migrations build; `--check` only compares. */
const TABLES: Record<string, string> = {
  accounts: 'Partner firms and brands.',
  clients: 'The OAuth clients of partner firms.',
  client_secrets: 'Secrets that clients had before, each until it ends (milliseconds).',
  affiliates: 'Who may be paid, as the account names them.',
  customers: 'Customers of every vertical.',
  transactions: 'Financial events on trader accounts.',
  activity: 'What traders did, a row a day, customer, instrument and currency.',
  events: 'What customers of brands did.',
  totals: 'How many records an account has of a resource, held ones left out.',
  deliveries: 'What arrived, a row a request.',
}

/** The types of rows that other rooms name. */
const ROWS = [
  ['accounts', 'Account', 'An account, as it was set up.'],
  ['deliveries', 'Delivery', 'A line of the log of deliveries.'],
] as const

const { check } = readOptions({ check: { type: 'boolean' } })

interface Column {
  name: string
  type: string
  notnull: number
  pk: number
}

const db = new DatabaseSync(':memory:')
for (const file of readdirSync('migrations').sort()) {
  db.exec(readFileSync(`migrations/${file}`, 'utf8'))
}

const camel = (name: string) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())

const quoted = (names: readonly string[]) => names.map((name) => `'${name}'`).join(', ')

/** The words that a column may have, where a CHECK lists them. */
function wordsOf(sql: string, column: string): string {
  const [, list] = new RegExp(`\\(${column} IN \\(([^)]*)\\)`, 'i').exec(sql) ?? []
  return list ? `{ enum: [${list.trim()}] }` : ''
}

function written(table: string): string {
  const columns = db
    .prepare('select name, type, "notnull", pk from pragma_table_info(?)')
    .all(table) as unknown as Column[]
  const { sql } = db.prepare('select sql from sqlite_schema where name = ?').get(table) as {
    sql: string
  }
  const key = columns.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk)
  const isAlone = key.length === 1
  const lines = columns.map(({ name, type, notnull, pk }) => {
    const primary = isAlone && pk > 0 ? '.primaryKey()' : ''
    const needed = notnull && !primary ? '.notNull()' : ''
    return `${name}: ${type.toLowerCase()}(${type === 'TEXT' ? wordsOf(sql, name) : ''})${primary}${needed},`
  })
  const more = isAlone
    ? ''
    : `, (t) => [primaryKey({ columns: [${key.map(({ name }) => `t.${name}`).join(', ')}] })]`
  return `/** ${TABLES[table]} */
export const ${camel(table)} = sqliteTable(${quoted([table])}, {
${lines.join('\n')}
}${more})
`
}

const source = `// Written by scripts/tables.ts from migrations/: add a migration, then \`npm run generate\`.

import { integer, primaryKey, real, type SQLiteTable, sqliteTable, text } from 'drizzle-orm/sqlite-core'

/** A table, for the rooms that name one and speak no SQL. */
export type Table = SQLiteTable

${Object.keys(TABLES).map(written).join('\n')}
${ROWS.map(([table, name, says]) => `/** ${says} */\nexport type ${name} = typeof ${camel(table)}.$inferSelect\n`).join('\n')}`

const path = 'src/db/schema.ts'
const formatted = execFileSync('node_modules/.bin/biome', ['format', `--stdin-file-path=${path}`], {
  input: source,
  encoding: 'utf8',
})
if (!check) writeFileSync(path, formatted)
else if (readFileSync(path, 'utf8') !== formatted) {
  console.error(`${path} is stale: npm run generate`)
  process.exitCode = 1
}
