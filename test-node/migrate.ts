import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Miniflare } from 'miniflare'
import { MIGRATIONS } from '../bench/schema.ts'
import { digestsOf, MIGRATIONS_TABLE, migrationsOf } from '../scripts/dev/local.ts'
import { readConfig } from './wrangler-config.ts'

/**
 * Creates one of the databases of `wrangler dev` in a copy of the repository, as migrated by
 * wrangler, which takes ten times as long.
 */
export async function createDatabase(root: string, binding: string): Promise<void> {
  const config = readFileSync(join(root, 'wrangler.toml'), 'utf8')
  const databases = readConfig(root).d1_databases.map(
    ({ binding, database_id, migrations_dir }) => ({ binding, database_id, migrations_dir }),
  )
  const wanted = databases.find((one) => one.binding === binding)!
  const { database_id: id } = wanted
  const migrations = migrationsOf(wanted, root)
  const state = join(root, '.wrangler/state/v3')
  const miniflare = new Miniflare({
    resourcePersistencePath: state,
    workers: [
      {
        config: {
          name: 'migrate',
          type: 'worker',
          compatibilityDate: '2026-09-01',
          manifest: {
            mainModule: 'nothing.js',
            modules: { 'nothing.js': { type: 'esm', contents: '' } },
          },
          env: { [binding]: { type: 'd1', id } },
        },
      },
    ],
  })
  const database = await miniflare.getD1Database(binding)
  await database.batch([
    ...[MIGRATIONS_TABLE, ...MIGRATIONS].map((sql) => database.prepare(sql)),
    ...migrations.map(({ name }) =>
      database.prepare('insert into d1_migrations (name) values (?)').bind(name),
    ),
  ])
  await miniflare.dispose()
  const list = join(state, 'd1/applied.json')
  const known = existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')).digests : {}
  const digests = { ...known, ...digestsOf(migrations) }
  writeFileSync(list, JSON.stringify({ config, databases, digests }))
}
