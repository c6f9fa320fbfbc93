import { spawnSync } from 'node:child_process'
import { hash, randomBytes } from 'node:crypto'
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseEnv, stripVTControlCharacters } from 'node:util'
import { newKeySet, newTrackingKeys } from '../keys.ts'

// What the service needs before it can run on this machine: secrets and migrated databases.

/** The folder in which `wrangler dev` keeps its databases, objects and queues. */
export const STATE = '.wrangler/state'

const SECRETS_FILE = '.dev.vars'

/** The digest of each migration that a database has, by its binding. It goes away with the databases. */
const APPLIED_FILE = `${STATE}/v3/d1/applied.json`

const GENERATORS: Readonly<Record<string, () => string | Promise<string>>> = {
  SIGNING_KEYS: newKeySet,
  TRACKING_KEYS: newTrackingKeys,
  ADMIN_KEY: () => randomBytes(32).toString('base64url'),
}

/** Settings of wrangler: no questions, no metrics, no requests to Cloudflare. */
export const WRANGLER_ENV = {
  ...process.env,
  CI: '1',
  NO_COLOR: '1',
  WRANGLER_SEND_METRICS: 'false',
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
  WRANGLER_HIDE_BANNER: 'true',
}

/** Wrangler as an argument of Node.js, so that it runs with the version that runs us. */
export const WRANGLER = 'node_modules/wrangler/bin/wrangler.js'

/** Returns the secrets of this clone. */
export const readSecrets = (): Record<string, string | undefined> =>
  existsSync(SECRETS_FILE) ? parseEnv(readFileSync(SECRETS_FILE, 'utf8')) : {}

/** Creates the secrets that are missing or empty, and prints their names; keeps all others. */
export async function createSecrets(): Promise<void> {
  const known = readSecrets()
  const isEmpty = (value = '') => /^(?:|\{"keys":\[\]\})$/.test(value.replaceAll(/\s/g, ''))
  const missing = Object.entries(GENERATORS).filter(([name]) => isEmpty(known[name]))
  for (const [name, generate] of missing) {
    // The last line of a name is the one that counts.
    const line = `${name}='${await generate()}'\n`
    appendFileSync(SECRETS_FILE, line, { mode: 0o600 })
  }
  if (missing.length > 0)
    console.log(`Created ${missing.map(([name]) => name).join(', ')} in ${SECRETS_FILE}.`)
}

/**
 * Applies the migrations that the local databases lack, and prints their file names. Ends the program
 * if a database has the layout of an older version, which no migration converts.
 */
export async function migrate(): Promise<void> {
  try {
    const migrations = await applyMigrations()
    if (migrations.length > 0) console.log(`Applied ${migrations.join(', ')}.`)
  } catch (error) {
    const { message } = error as Error
    console.error(message)
    if (message === OLD_LAYOUT) process.exit(1)
  }
}

type Applied = Record<string, Record<string, string>>

const OLD_LAYOUT =
  'The local database has the layout of an older version, which this version cannot read. Start with an empty one: npm run dev -- --reset'

/** Applies the missing migrations and returns their file names. Throws if it cannot. */
export async function applyMigrations(
  execute: (binding: string, migrations: readonly string[]) => unknown = executeByWrangler,
): Promise<string[]> {
  const toml = readFileSync('wrangler.toml', 'utf8')
  const bindings = [...toml.matchAll(/^\[\[d1_databases\]\]\nbinding = "(\w+)"/gm)]
  const digests = Object.fromEntries(
    readdirSync('migrations')
      .sort()
      .map((name) => [name, hash('sha256', readFileSync(join('migrations', name)))]),
  )
  const applied: Applied = existsSync(APPLIED_FILE)
    ? JSON.parse(readFileSync(APPLIED_FILE, 'utf8'))
    : {}
  const added = new Set<string>()
  for (const [, binding = ''] of bindings) {
    const known = applied[binding] ?? {}
    // Otherwise the service would start with tables that it cannot read.
    if (Object.entries(known).some(([name, digest]) => digests[name] !== digest)) {
      throw new Error(OLD_LAYOUT)
    }
    const missing = Object.keys(digests).filter((name) => !Object.hasOwn(known, name))
    if (missing.length === 0) continue
    await execute(binding, missing)
    applied[binding] = digests
    writeFileSync(APPLIED_FILE, JSON.stringify(applied))
    for (const name of missing) added.add(name)
  }
  return [...added]
}

/** Records migrations in the table of `wrangler d1 migrations apply`. */
export const recordOf = (
  migrations: readonly string[],
) => `create table if not exists d1_migrations (id integer primary key autoincrement, name text unique,
  applied_at timestamp default current_timestamp not null);
insert into d1_migrations (name) values ${migrations.map((name) => `('${name}')`).join()};`

/** Executes migrations in one transaction: `wrangler d1 migrations apply` starts workerd for each. */
function executeByWrangler(binding: string, migrations: readonly string[]): void {
  const texts = migrations.map((name) => readFileSync(join('migrations', name), 'utf8'))
  const reason = executeSql(binding, [...texts, recordOf(migrations)].join('\n'))
  if (reason === null) return
  if (/table \w+ already exists/.test(reason)) throw new Error(OLD_LAYOUT)
  throw new Error(
    `${migrations.join(', ')} failed: ${reason}\nCorrect the migration and save it to try again.`,
  )
}

/** Executes SQL in a local database, in one transaction. Returns why it failed; null if it did not. */
export function executeSql(binding: string, sql: string): string | null {
  const file = join(mkdtempSync(join(tmpdir(), 'tributary-sql-')), 'all.sql')
  writeFileSync(file, sql)
  const args = [WRANGLER, 'd1', 'execute', binding, '--local', '--yes', '--file', file]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    env: WRANGLER_ENV,
  })
  rmSync(dirname(file), { recursive: true })
  if (status === 0) return null
  const [, reason] = /\[ERROR\] (.+)/.exec(stripVTControlCharacters(stdout + stderr)) ?? []
  return String(reason)
}
