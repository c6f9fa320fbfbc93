import { readdirSync, readFileSync } from 'node:fs'
import { CUSTOMERS } from './records.ts'

const quote = (text: string) => `'${text.replaceAll("'", "''")}'`

/** The statements of all migrations, in order. */
export const MIGRATIONS = readdirSync('migrations')
  .sort()
  .flatMap((name) => statementsIn(readFileSync(`migrations/${name}`, 'utf8')))

/** The views, and the tables, each before those that it refers to. */
const VIEWS = MIGRATIONS.flatMap((sql) => /^create view (\w+)/i.exec(sql)?.[1] ?? [])
const TABLES = MIGRATIONS.flatMap((sql) => /^create table (\w+)/i.exec(sql)?.[1] ?? []).reverse()

/** Statements that empty a store and insert the customers again. */
export const resetStatements = (account: string): string[] => [
  ...VIEWS.map((name) => `drop view if exists ${name}`),
  ...TABLES.map((name) => `drop table if exists ${name}`),
  ...MIGRATIONS,
  `insert into customers (account, customer_id, affiliate_id, day, delivery, idx, revision) values
   ${CUSTOMERS.map((id) => `(${quote(account)}, ${quote(id)}, 'IB-07', 20666, '', 0, 1)`)}`,
]

/** Statements that create a partner firm with this client secret. */
export const clientStatements = (
  account: string,
  client_id: string,
  secretDigest: string,
): string[] => [
  `insert into accounts (id, name, vertical, mode, unknown_customer, created_at)
   values (${quote(account)}, 'Bench', 'forex', 'test', 'reject', '2026-09-01T00:00:00.000Z')`,
  `insert into clients (client_id, account, secret_digest, created_at)
   values (${quote(client_id)}, ${quote(account)}, '${secretDigest}', '2026-09-01T00:00:00.000Z')`,
  `insert into affiliates (account, affiliate_id) values (${quote(account)}, 'IB-07')`,
]

function statementsIn(file: string): string[] {
  // A trigger contains statements, up to its `end`.
  const statements =
    file.replace(/--.*/g, '').match(/\s*create trigger[\s\S]*?\bend\b|[^;]+/gi) ?? []
  return statements.map((statement) => statement.trim()).filter(Boolean)
}

/**
 * Counts the rows with this status that were changed exactly once, so that a replay wrote none of them.
 * The bench fails if the work was not done.
 */
export const countStatement = (account: string, status: string) =>
  `select count(*) as n from transactions where account = ${quote(account)}
   and status = ${quote(status)} and revision = 2 and held = 0`
