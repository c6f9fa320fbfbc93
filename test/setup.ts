import { applyD1Migrations, reset } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { beforeEach } from 'vitest'

// The pool isolates storage per file, not per test; every test of ours starts from an empty world.
beforeEach(async () => {
  await reset()
  for (const database of [env.DB, env.DB_2]) await applyD1Migrations(database, env.MIGRATIONS)
})
