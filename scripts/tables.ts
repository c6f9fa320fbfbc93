import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { readOptions } from './said.ts'

/** Writes src/db/schema.ts from what the migrations build; `--check` only compares. */
const TABLES: Record<string, string> = {
  accounts: 'Partner firms and brands.',
  clients: 'The OAuth clients of partner firms.',
  client_secrets: 'Previous secrets of OAuth clients, each valid until `ends_at` (milliseconds).',
  brand_tokens: 'Brand Tokens; `ends_at` (milliseconds) is null while a token has no end.',
  affiliates: 'The affiliates of an account, under the ids that the account uses.',
  links: 'Tracking links, each of one affiliate.',
  clicks: 'Clicks on links; `clicked_at` in milliseconds.',
  event_definitions: 'How the events of one name are validated; `kpis` and `product` are JSON.',
  vocabulary: 'The meanings of values that an account uses in place of the standard ones.',
  customers: 'Customers of every vertical.',
  transactions: 'Financial events on trader accounts.',
  activity: 'Trading activity: one row per day, customer, instrument and currency.',
  events: 'Activities of brand customers.',
  totals: 'The number of records of an account by resource, without held records.',
  deliveries: 'The delivery log: one row per request.',
  overwritten_writes: 'Writes that a later record of the same request overwrote.',
  idempotency_keys: 'Idempotency keys, each with a digest of the records of its first use.',
  arrivals: 'The freshness of each feed: one row per account, hour (since 1970) and resource.',
  erasures: 'Customers whose personal data was erased.',
  audit_log: 'Changes that the integrations team made; `details` is JSON.',
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
  /** The default as an SQL literal, which is also one of JavaScript; null if there is none. */
  dflt_value: string | null
  pk: number
}

const db = new DatabaseSync(':memory:')
for (const file of readdirSync('migrations').sort()) {
  db.exec(readFileSync(`migrations/${file}`, 'utf8'))
}
for (const { name } of db.prepare(`select name from sqlite_schema where type = 'table'`).all()) {
  if (!(String(name) in TABLES)) throw new Error(`scripts/tables.ts has no comment for ${name}.`)
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
    .prepare('select name, type, "notnull", dflt_value, pk from pragma_table_info(?)')
    .all(table) as unknown as Column[]
  const { sql } = db.prepare('select sql from sqlite_schema where name = ?').get(table) as {
    sql: string
  }
  const key = columns.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk)
  const isAlone = key.length === 1
  const lines = columns.map(({ name, type, notnull, dflt_value, pk }) => {
    const primary = isAlone && pk > 0 ? '.primaryKey()' : ''
    const needed = notnull && !primary ? '.notNull()' : ''
    const preset = dflt_value === null ? '' : `.default(${dflt_value})`
    return `${name}: ${type.toLowerCase()}(${type === 'TEXT' ? wordsOf(sql, name) : ''})${primary}${needed}${preset},`
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
