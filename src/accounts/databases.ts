import * as v from 'valibot'
import { ALARM_SHARE, MAX_DATABASE_BYTES } from '../ingest/db/storage.ts'
import { databaseBindings, jurisdictionOf, resolveDatabase } from '../platform/db/database.ts'
import { countAccounts, putSizes, readSize, readSizes } from '../platform/directory/databases.ts'
import { operation } from '../platform/http/operation.ts'
import { logFailure } from '../platform/log-failure.ts'
import { count } from '../platform/validation/answer-fields.ts'
import { component, described, listOf } from '../platform/validation/described.ts'
import { member, nullable } from '../platform/validation/fields.ts'

const database = component('Database', () => ({
  binding: member(v.string(), 'The name of its binding.'),
  jurisdiction: nullable(
    v.string(),
    'Where its data stays, which the name of the binding has. Null if it is not restricted.',
  ),
  accounts: member(count, 'The number of accounts whose records it has.'),
  bytes: nullable(count, 'Its size, measured every 10 minutes. Null before the first measurement.'),
}))

export const listDatabases = operation({
  of: 'team',
  id: 'listDatabases',
  shows: 'firm',
  topic: 'monitoring',
  method: 'GET',
  path: '/databases',
  words: described(() => ({
    description:
      'Lists the databases of the deployment: how many accounts each has, and how full it is.',
    answer: listOf(database),
    command: { name: 'databases list' },
  })),
  async run({ env }) {
    const [sizes, accounts] = await Promise.all([readSizes(env.DB), countAccounts(env.DB)])
    const data = databaseBindings(env).map((binding) => ({
      binding,
      jurisdiction: jurisdictionOf(binding),
      accounts: accounts.get(binding) ?? 0,
      bytes: sizes.get(binding) ?? null,
    }))
    return { data }
  },
})

/** Stores the size of each database, and logs those that have used much of it. */
export async function measureDatabases(env: Env): Promise<void> {
  const sizes: [binding: string, bytes: number][] = []
  await Promise.all(
    databaseBindings(env).map((binding) =>
      logFailure(binding, async () => {
        sizes.push([binding, await readSize(resolveDatabase(env, binding))])
      }),
    ),
  )
  for (const [binding, bytes] of sizes) {
    if (bytes < MAX_DATABASE_BYTES * ALARM_SHARE) continue
    const limit = MAX_DATABASE_BYTES
    console.warn(JSON.stringify({ storage_alarm: 'database', binding, bytes, limit }))
  }
  await logFailure('DB', () => putSizes(env.DB, sizes))
}

/**
 * Returns the database of a new account: the smallest of its jurisdiction. Those that were not measured yet come
 * last, because a new one has no tables before it is migrated. Without a database of the jurisdiction it is `DB`.
 */
export async function placeAccount(env: Env, jurisdiction: string | null): Promise<string> {
  const shards = databaseBindings(env).filter(
    (binding) => binding !== 'DB' && jurisdictionOf(binding) === jurisdiction,
  )
  if (shards.length === 0) return 'DB'
  const sizes = await readSizes(env.DB)
  const measured = shards
    .filter((binding) => sizes.has(binding))
    .toSorted((a, b) => (sizes.get(a) ?? 0) - (sizes.get(b) ?? 0))
  const unmeasured = jurisdiction === null ? 'DB' : (shards[0] ?? 'DB')
  return measured[0] ?? unmeasured
}
