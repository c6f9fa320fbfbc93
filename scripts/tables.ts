import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { readCheckOption } from './command-line.ts'

/** The tables whose columns the code names, each with the comment of its declaration. SQL alone knows the others. */
const TABLES: Record<string, string> = {
  accounts: 'Partner firms and brands.',
  clients: 'The OAuth clients of partner firms.',
  client_secrets: 'Previous secrets of OAuth clients, each valid until `ends_at` (milliseconds).',
  brand_tokens: 'Brand Tokens; `ends_at` (milliseconds) is null while a token has no end.',
  affiliate_keys: 'Keys of affiliates; `ends_at` (milliseconds) is null while a key has no end.',
  affiliates: 'The affiliates of an account, under the ids that the account uses.',
  affiliate_members: 'Persons who sign in for an affiliate.',
  affiliate_passkeys: 'Their passkeys; `transports` is JSON.',
  affiliate_invitations:
    'Invitations to register a passkey, as digests; `ends_at` in milliseconds.',
  affiliate_questions: 'Questions of affiliates about a statement, line or customer.',
  links: 'Tracking links, each of one affiliate.',
  clicks: 'Clicks on links; `clicked_at` in milliseconds.',
  event_definitions: 'How the events of one name are validated; `kpis` and `product` are JSON.',
  vocabulary: 'The meanings of values that an account uses in place of the standard ones.',
  plan_versions: 'The versions of plans; `terms` is canonical JSON.',
  fraud_rule_versions: 'The versions of fraud rules; `terms` is canonical JSON.',
  fraud_progress: 'How far the fraud rules of an account were evaluated.',
  fraud_findings: 'What fraud rules found on each day; `figures` and `evidence` are JSON.',
  fraud_cases: 'The cases of the fraud review.',
  fraud_ended_holds: 'Holds that ended without a decision, until a person acknowledges it.',
  fraud_decisions: 'What persons decided of cases; `refuse` and `seen` are JSON.',
  fraud_notes: 'What persons wrote about cases.',
  assignments: 'Which plan governs the customers of an affiliate, from a day on.',
  customers: 'Customers of every vertical.',
  transactions: 'Financial events on trader accounts.',
  activity: 'The resource `trading-activity`: one row per day, customer, instrument and currency.',
  events: 'The resource `activities`: events of brand customers.',
  customer_affiliations: 'Changes of the affiliates of customers, by day.',
  customer_fields: 'Changes of the customer fields that plans use, by day: the values before each.',
  customer_refusals: 'Customers who earn nothing from a day on.',
  affiliate_parents: 'Changes of the parents of affiliates, by day.',
  totals:
    'The number of records of an account by resource, and of its held records, which `total` leaves out.',
  deliveries:
    'The delivery log. `unknown_at`, `stale_at`, `moved`, `erased_at`: JSON arrays of positions in the request, not times.',
  delivery_terms: 'Codes of errors and ids of refused records, by which deliveries are found.',
  day_totals: 'Control totals of the days that have not changed since they were summed.',
  idempotency_keys: 'Idempotency keys, each with a digest of the records of its first use.',
  account_moves: 'Moves of accounts to other databases; `place` is JSON.',
  exports:
    'The files of exports, by resource and month; `sums` is JSON, times are in milliseconds.',
  export_runs: 'How far the export of each account is; times are in milliseconds.',
  arrivals: 'The freshness of each feed: one row per account, hour (since 1970) and resource.',
  resets: 'Test accounts whose records are being deleted.',
  storage: 'The bytes that each account stores, up to an hour (since 1970).',
  archived_months: 'Months whose trading activity or daily events are in objects in R2.',
  erasures:
    'Customers whose personal data was erased; their activities before `next_day` and `after_id` are done.',
  statements: 'Statements of commissions, by period, affiliate and plan.',
  statement_lines: 'The lines of long statements from the second part on.',
  manual_entries: 'Amounts that the integrations team entered.',
  payments: 'What was paid, by reference.',
  ledger: 'What affiliates earned and were paid: append-only.',
  statement_runs: 'Runs that compute the statements of a period.',
  kept_days: 'Past days of which an account keeps the facts, by calendar year.',
  kept_facts: 'The facts of a customer on these days, as runs have read them; `rows` is JSON.',
  changed_days: 'Days of these of which a record has changed since.',
  webhook_endpoints:
    'The addresses to which events are sent, also postbacks of affiliates; their secrets are encrypted.',
  webhook_attempts: 'The log of attempts to send events.',
  audit_log: 'Changes that the integrations team made; `details` is JSON.',
}

/** The columns with a type of src/db/column-types.ts, by the type that SQL declares. */
const COLUMN_TYPES: Record<string, Record<string, string>> = {
  INTEGER: {
    day: 'day',
    date: 'day',
    first_day: 'day',
    received_day: 'day',
    signup_date: 'instant',
    last_modified_date: 'instant',
    transaction_date: 'instant',
    createtime: 'instant',
  },
  TEXT: { customer_id: 'id', transaction_id: 'id' },
}

/** The row types that other folders import. */
const ROWS = [
  ['accounts', 'Account', 'An account as configured.'],
  ['deliveries', 'Delivery', 'A row of the delivery log.'],
  ['account_moves', 'AccountMove', 'A move of an account to another database.'],
] as const

const isCheck = readCheckOption(
  'node scripts/tables.ts',
  'Writes src/db/schema.ts from the migrations.',
)

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
    return `${name}: ${columnType ?? type.toLowerCase()}(${options})${primary}${needed}${preset},`
  })
  const columnsIn = (names: readonly string[]) => names.map((name) => `t.${name}`).join(', ')
  const unique = uniqueIndexOf(table)
  const keys = [
    ...(isAlone ? [] : [`primaryKey({ columns: [${columnsIn(key)}] })`]),
    ...(unique ? [`uniqueIndex('${unique.name}').on(${columnsIn(unique.columns)})`] : []),
  ]
  const more = keys.length === 0 ? '' : `, (t) => [${keys.join(', ')}]`
  // Columns in a function, and the annotation: esbuild drops the tables that only types name.
  return `/** ${TABLES[table]} */
export const ${camel(table)} = /* @__PURE__ */ sqliteTable(${quoted([table])}, () => ({
${lines.join('\n')}
})${more})
`
}

const HEADER =
  '// Written by scripts/tables.ts from migrations/: add a migration, then `npm run generate`.'

const SCHEMA = `${HEADER}

import { integer, primaryKey, real, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { day, id, instant } from './column-types.ts'

${Object.keys(TABLES).map(tableOf).join('\n')}
${ROWS.map(([table, name, comment]) => `/** ${comment} */\nexport type ${name} = typeof ${camel(table)}.$inferSelect\n`).join('\n')}`

const PATH = 'src/db/schema.ts'
const formatted = execFileSync('node_modules/.bin/biome', ['format', `--stdin-file-path=${PATH}`], {
  input: SCHEMA,
  encoding: 'utf8',
})
if (!isCheck) writeFileSync(PATH, formatted)
else if (readFileSync(PATH, 'utf8') !== formatted) {
  console.error(`${PATH} is out of date. Run \`npm run generate\`.`)
  process.exitCode = 1
}
