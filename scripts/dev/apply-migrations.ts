import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { Miniflare } from 'miniflare'

// Applies migrations to a local database. `wrangler d1 migrations apply` does the same, but takes four
// times as long, because it starts workerd for each migration.

/** A migration of a database. */
export interface Migration {
  key: string
  binding: string
  database_id: string
  name: string
  path: string
  digest: string
}

/** The table in which wrangler records the migrations that a database has. */
const MIGRATIONS_TABLE = `create table if not exists d1_migrations (
  id integer primary key autoincrement, name text unique,
  applied_at timestamp default current_timestamp not null)`

/** A service that runs may hold the lock of its database; workerd does not wait for it. */
const ATTEMPTS_WHILE_LOCKED = 5
const WAIT_WHILE_LOCKED_MS = 200

/** A statement and the values of its parameters. */
interface Statement {
  sql: string
  values: string[]
}

/**
 * Executes the statements of a request in one transaction. Miniflare's own `getD1Database` blocks this
 * process for each call to the database: all migrations together take it two seconds.
 */
const EXECUTOR = `export default {
  async fetch(request, { DB }) {
    const statements = await request.json()
    try {
      const answers = await DB.batch(
        statements.map(({ sql, values }) => DB.prepare(sql).bind(...values)),
      )
      return Response.json(answers.map(({ results }) => results))
    } catch (error) {
      return new Response(error.message, { status: 500 })
    }
  },
}`

/**
 * Applies the migrations of one database that it does not record, each in a transaction. Throws the
 * error of a migration that fails, with its path.
 */
export async function applyMissing(migrations: readonly Migration[], state: string): Promise<void> {
  const [{ database_id: id = '' } = {}] = migrations
  const miniflare = new Miniflare({
    // Otherwise Miniflare fetches an example of `request.cf`.
    cf: false,
    resourcePersistencePath: resolve(state),
    workers: [
      {
        config: {
          name: 'migrate',
          type: 'worker',
          compatibilityDate: '2026-09-01',
          manifest: {
            mainModule: 'executor.js',
            modules: { 'executor.js': { type: 'esm', contents: EXECUTOR } },
          },
          env: { DB: { type: 'd1', id } },
        },
      },
    ],
  })
  /** Executes statements in one transaction, and returns the rows of each. */
  async function execute(statements: readonly Statement[]): Promise<{ name: string }[][]> {
    const init = { method: 'POST', body: JSON.stringify(statements) }
    const response = await miniflare.dispatchFetch('http://migrate', init)
    if (!response.ok) throw new Error(await response.text())
    return (await response.json()) as { name: string }[][]
  }
  try {
    const [, recorded = []] = await retryWhileLocked(() =>
      execute([plain(MIGRATIONS_TABLE), plain('select name from d1_migrations')]),
    )
    const applied = new Set(recorded.map(({ name }) => name))
    const split = statementSplitter()
    for (const { name, path } of migrations) {
      try {
        const statements = split(readFileSync(path, 'utf8')).map(plain)
        const record = { sql: 'insert into d1_migrations (name) values (?)', values: [name] }
        if (!applied.has(name)) await retryWhileLocked(() => execute([...statements, record]))
      } catch (error) {
        throw new Error(`${path} failed: ${(error as Error).message}`)
      }
    }
  } finally {
    await miniflare.dispose()
  }
}

const plain = (sql: string): Statement => ({ sql, values: [] })

/**
 * Returns a function that splits a migration into statements. SQLite finds their ends: it executes them
 * in a database of its own. So it must get every migration in order, those that are applied included.
 */
function statementSplitter(): (sql: string) => string[] {
  const database = new DatabaseSync(':memory:')
  return (sql) => {
    const statements: string[] = []
    for (let rest = sql; hasStatement(rest); ) {
      const statement = database.prepare(rest)
      statement.run()
      // The text up to the end of the first statement.
      statements.push(statement.sourceSQL)
      rest = rest.slice(statement.sourceSQL.length)
    }
    return statements
  }
}

/** Whether a text has more than comments and white space. */
const hasStatement = (sql: string) => /\S/.test(sql.replace(/--.*|\/\*[\s\S]*?\*\//g, ''))

async function retryWhileLocked<T>(
  execute: () => Promise<T>,
  attempts = ATTEMPTS_WHILE_LOCKED,
): Promise<T> {
  try {
    return await execute()
  } catch (error) {
    if (!String(error).includes('SQLITE_BUSY') || attempts === 1) throw error
    await sleep(WAIT_WHILE_LOCKED_MS)
    return retryWhileLocked(execute, attempts - 1)
  }
}
