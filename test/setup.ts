import { reset } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeEach } from 'vitest'

const QUERIES = env.MIGRATIONS.flatMap(({ queries }) => queries)

// The pool isolates storage per file, not per test; every test of ours starts from an empty world.
// All migrations in one batch: one after the other they would take four times as long.
beforeEach(async () => {
  await reset()
  const databases = [env.DB, env.DB_2]
  await Promise.all(databases.map((db) => db.batch(QUERIES.map((query) => db.prepare(query)))))
})
