import { reset } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, vi } from 'vitest'
import { compareWholeResults } from './results.ts'
import { collectPrinted, failOnFaults, isUntouched } from './secrecy.ts'

/** Test files that run in one process share the schema that the migrations make. */
const shared = globalThis as { schema?: string }

/** Applies the migrations to an empty database and returns its schema as one statement. */
async function migrate(db: D1Database): Promise<string> {
  await db.batch(env.MIGRATIONS.flatMap(({ queries }) => queries).map((sql) => db.prepare(sql)))
  const { results } = await db
    .prepare("select sql from sqlite_schema where sql is not null and name not glob '_cf*'")
    .all<{ sql: string }>()
  return results.map(({ sql }) => sql).join(';\n')
}

/**
 * Deletes everything that is stored and creates the tables as a deployment does. The pool isolates
 * storage per file, not per test. One statement that creates the final schema takes a third of the
 * time that the migrations take.
 */
export async function emptyWorld() {
  for (;;) {
    await reset()
    try {
      const { schema } = shared
      if (schema) await Promise.all([env.DB, env.DB_2].map((db) => db.prepare(schema).run()))
      else [shared.schema = ''] = await Promise.all([env.DB, env.DB_2].map(migrate))
      return
    } catch (error) {
      // Work that a test left running may have created a database after the reset.
      if (!/already exists/.test(String(error))) throw error
    }
  }
}

/** The module loader of Vitest, of which the pool uses this method. */
declare const __vitest_mocker__: {
  moduleRunner: { import: (path: string) => Promise<unknown> }
}

/**
 * Makes the test file import each module once. The pool imports the main module for each request and
 * for each call of an object, and each import asks the process of Vitest twice, which takes longer than
 * the call.
 */
function importOnce() {
  const { moduleRunner } = __vitest_mocker__
  const imported = new Map<string, Promise<unknown>>()
  const original: typeof moduleRunner.import = Object.getPrototypeOf(moduleRunner).import
  moduleRunner.import = (path) => {
    const known = imported.get(path) ?? original.call(moduleRunner, path)
    imported.set(path, known)
    return known
  }
}

importOnce()
collectPrinted()
compareWholeResults()
beforeEach(() => (isUntouched() ? undefined : emptyWorld()))
afterEach(failOnFaults)
// Test files share a process: a mock or a clock that one of them sets must not reach the next.
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})
