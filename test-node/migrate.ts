import { createHash, createHmac } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { MIGRATIONS } from '../bench/schema.ts'
import { digestsOf, MIGRATIONS_TABLE, migrationsOf, STATE } from '../scripts/dev/local.ts'
import { readConfig } from './wrangler-config.ts'

/** The namespace of Miniflare's databases: the name of their folder, and the key of their files' names. */
const NAMESPACE = 'miniflare-D1DatabaseObject'

/** Returns the name of the file in which Miniflare keeps the database with this id. */
function fileNameOf(id: string): string {
  const key = createHash('sha256').update(NAMESPACE).digest()
  const digest = (data: string | Buffer) =>
    createHmac('sha256', key).update(data).digest().subarray(0, 16)
  const name = digest(id)
  return `${Buffer.concat([name, digest(name)]).toString('hex')}.sqlite`
}

/**
 * Creates one of the databases of `wrangler dev` in a copy of the repository, as migrated by
 * wrangler, which takes twenty times as long.
 */
export function createDatabase(root: string, binding: string): void {
  const config = readFileSync(join(root, 'wrangler.toml'), 'utf8')
  const databases = readConfig(root).d1_databases.map(
    ({ binding, database_id, migrations_dir }) => ({ binding, database_id, migrations_dir }),
  )
  const wanted = databases.find((one) => one.binding === binding)!
  const migrations = migrationsOf(wanted, root)
  const folder = join(root, STATE, 'v3/d1')
  mkdirSync(join(folder, NAMESPACE), { recursive: true })
  const database = new DatabaseSync(join(folder, NAMESPACE, fileNameOf(wanted.database_id)))
  database.exec(['pragma journal_mode = wal; begin', MIGRATIONS_TABLE, ...MIGRATIONS].join(';\n'))
  const insert = database.prepare('insert into d1_migrations (name) values (?)')
  for (const { name } of migrations) insert.run(name)
  database.exec('commit')
  database.close()
  const list = join(folder, 'applied.json')
  const known = existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')).digests : {}
  const digests = { ...known, ...digestsOf(migrations) }
  writeFileSync(list, JSON.stringify({ config, databases, digests }))
}
