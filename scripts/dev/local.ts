import { spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
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

/** Lists the migrations that the databases have. It goes away with the databases themselves. */
const APPLIED_FILE = `${STATE}/v3/d1/applied.json`

/** A database of wrangler.toml. */
interface Database {
  binding: string
  database_id: string
  migrations_dir: string
}

/** The content of that file. */
interface Applied {
  /** The text of wrangler.toml, and its databases: wrangler takes a second to read it. */
  config: string
  databases: Database[]
  /** The digest of each applied migration, by its database and file name. */
  digests: Record<string, string>
}

const NONE_APPLIED: Applied = { config: '', databases: [], digests: {} }

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

/** Applies the missing migrations and returns their file names. Throws if it cannot. */
export async function applyMigrations(): Promise<string[]> {
  const applied = readApplied()
  const config = readFileSync('wrangler.toml', 'utf8')
  const databases = config === applied.config ? applied.databases : await readDatabases()
  const wanted = databases.flatMap((database) => migrationsOf(database))
  checkUnchanged(applied, databases, wanted)
  const missing = wanted.filter(({ key }) => !Object.hasOwn(applied.digests, key))
  for (const binding of new Set(missing.map((one) => one.binding))) {
    const isNew = !Object.keys(applied.digests).some((key) => key.startsWith(`${binding} `))
    if (isNew && applyTogether(missing.filter((one) => one.binding === binding))) continue
    wrangler(['d1', 'migrations', 'apply', binding, '--local'])
  }
  if (missing.length > 0 || config !== applied.config) {
    mkdirSync(dirname(APPLIED_FILE), { recursive: true })
    writeFileSync(APPLIED_FILE, JSON.stringify({ config, databases, digests: digestsOf(wanted) }))
  }
  return [...new Set(missing.map(({ name }) => name))]
}

/** The table in which wrangler records the migrations that a database has. */
export const MIGRATIONS_TABLE = `create table d1_migrations (id integer primary key autoincrement,
  name text unique, applied_at timestamp default current_timestamp not null);`

/**
 * Applies all migrations to an empty database in one transaction, and returns whether it succeeded.
 * `wrangler d1 migrations apply` takes three times as long, because it starts workerd for each
 * migration.
 */
function applyTogether(migrations: readonly Migration[]): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'tributary-migrations-'))
  const file = join(folder, 'all.sql')
  const statements = migrations.map(
    ({ path, name }) =>
      `${readFileSync(path, 'utf8')}\ninsert into d1_migrations (name) values ('${name}');`,
  )
  writeFileSync(file, [MIGRATIONS_TABLE, ...statements].join('\n'))
  try {
    wrangler(['d1', 'execute', migrations[0]?.binding ?? '', '--local', '--file', file])
    return true
  } catch {
    // `wrangler d1 migrations apply` reports which migration fails, or finds that it has them all.
    return false
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Returns the content of the file of applied migrations. A file without digests is not read. */
function readApplied(): Applied {
  if (!existsSync(APPLIED_FILE)) return NONE_APPLIED
  const applied: Partial<Applied> = JSON.parse(readFileSync(APPLIED_FILE, 'utf8'))
  return { ...NONE_APPLIED, ...(applied.digests && applied) }
}

/** A migration of a database. */
interface Migration {
  key: string
  binding: string
  name: string
  path: string
  digest: string
}

/** Returns the migrations of a database, in the folder `root`. */
export function migrationsOf(
  { binding, database_id, migrations_dir }: Database,
  root = '.',
): Migration[] {
  const folder = join(root, migrations_dir)
  return readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .map((name) => ({
      key: `${binding} ${database_id} ${name}`,
      binding,
      name,
      path: join(folder, name),
      digest: createHash('sha256')
        .update(readFileSync(join(folder, name)))
        .digest('hex'),
    }))
}

/**
 * Throws if an applied migration has another text now, or no file: wrangler compares only names, so
 * the service would start with tables that it cannot read.
 */
function checkUnchanged(
  { digests }: Applied,
  databases: readonly Database[],
  wanted: readonly Migration[],
): void {
  const now = digestsOf(wanted)
  const prefixes = databases.map(({ binding, database_id }) => `${binding} ${database_id} `)
  const isUnchanged = ([key, digest]: [string, string]) =>
    now[key] === digest || !prefixes.some((prefix) => key.startsWith(prefix))
  if (!Object.entries(digests).every(isUnchanged)) throw new Error(OLD_LAYOUT)
}

/** Returns the digests of migrations, in the form of the file of applied migrations. */
export const digestsOf = (migrations: readonly Migration[]) =>
  Object.fromEntries(migrations.map(({ key, digest }) => [key, digest]))

async function readDatabases(): Promise<Database[]> {
  const { configOf } = await import('../config.ts')
  return configOf(undefined).d1_databases.map(({ binding, database_id, migrations_dir }) => ({
    binding,
    database_id,
    migrations_dir,
  }))
}

const OLD_LAYOUT =
  'The local database has the layout of an older version, which this version cannot read. Start with an empty one: npm run dev -- --reset'

const CORRECT_IT = 'Correct the migration and save it to try again.'

/** A service that runs may hold the lock of its database; workerd does not wait for it. */
const ATTEMPTS_WHILE_LOCKED = 3

/** Runs a wrangler command. Throws its error message if it fails. */
function wrangler(args: string[], attempts = ATTEMPTS_WHILE_LOCKED): void {
  const { status, stdout, stderr } = spawnSync(process.execPath, [WRANGLER, ...args], {
    env: WRANGLER_ENV,
    encoding: 'utf8',
  })
  if (status === 0) return
  const output = stripVTControlCharacters(stdout + stderr)
  if (output.includes('SQLITE_BUSY') && attempts > 1) {
    wrangler(args, attempts - 1)
    return
  }
  const [, reason = output] = /\[ERROR\] (.+)/.exec(output) ?? []
  if (/table \w+ already exists/.test(output)) throw new Error(OLD_LAYOUT)
  throw new Error(`\`wrangler ${args.join(' ')}\` failed: ${reason}\n${CORRECT_IT}`)
}
