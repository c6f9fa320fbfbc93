import { reset } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, vi } from 'vitest'
import { keepPrinted, keepSecret } from './secrecy.ts'

const QUERIES = env.MIGRATIONS.flatMap(({ queries }) => queries)

/**
 * Leaves nothing that is stored, and the tables as a deployment makes them. The pool isolates storage
 * per file, not per test. All migrations in one batch: one after the other they would take four
 * times as long.
 */
export async function emptyWorld() {
  for (;;) {
    await reset()
    const databases = [env.DB, env.DB_2]
    const migrated = databases.map((db) => db.batch(QUERIES.map((query) => db.prepare(query))))
    // What a test left under way may come between a reset and its end: then the world is not empty.
    const ended = await Promise.allSettled(migrated)
    const failed = ended.find(({ status }) => status === 'rejected') as PromiseRejectedResult
    if (!failed) return
    if (!/already exists/.test(String(failed.reason))) throw failed.reason
  }
}

keepPrinted()
beforeEach(emptyWorld)
afterEach(keepSecret)
// Files share a process: what one of them replaces must not reach the next.
afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})
