import { createHash, randomBytes } from 'node:crypto'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { parseEnv } from 'node:util'
import { newKeySet, newTrackingKeys } from '../keys.ts'
import type { Migration } from './apply-migrations.ts'

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
  const wanted = databases.flatMap(migrationsOf)
  checkUnchanged(applied, databases, wanted)
  const missing = wanted.filter(({ key }) => !Object.hasOwn(applied.digests, key))
  for (const binding of new Set(missing.map((one) => one.binding))) {
    await applyToDatabase(wanted.filter((one) => one.binding === binding))
  }
  if (missing.length > 0 || config !== applied.config) {
    mkdirSync(dirname(APPLIED_FILE), { recursive: true })
    writeFileSync(APPLIED_FILE, JSON.stringify({ config, databases, digests: digestsOf(wanted) }))
  }
  return [...new Set(missing.map(({ name }) => name))]
}

/** Returns the content of the file of applied migrations. A file without digests is not read. */
function readApplied(): Applied {
  if (!existsSync(APPLIED_FILE)) return NONE_APPLIED
  const applied: Partial<Applied> = JSON.parse(readFileSync(APPLIED_FILE, 'utf8'))
  return { ...NONE_APPLIED, ...(applied.digests && applied) }
}

/** Returns the migrations of a database, in order. */
const migrationsOf = ({ binding, database_id, migrations_dir }: Database): Migration[] =>
  readdirSync(migrations_dir)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => ({
      key: `${binding} ${database_id} ${name}`,
      binding,
      database_id,
      name,
      path: join(migrations_dir, name),
      digest: createHash('sha256')
        .update(readFileSync(join(migrations_dir, name)))
        .digest('hex'),
    }))

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
const digestsOf = (migrations: readonly Migration[]) =>
  Object.fromEntries(migrations.map(({ key, digest }) => [key, digest]))

async function readDatabases(): Promise<Database[]> {
  const { configOf } = await import('../config.ts')
  return configOf(undefined).d1_databases.map(({ binding, database_id = '', migrations_dir }) => ({
    binding,
    database_id,
    migrations_dir,
  }))
}

const OLD_LAYOUT =
  'The local database has the layout of an older version, which this version cannot read. Start with an empty one: npm run dev -- --reset'

const CORRECT_IT = 'Correct the migration and save it to try again.'

/** Applies the migrations that one database lacks. Throws a message for the developer. */
async function applyToDatabase(migrations: readonly Migration[]): Promise<void> {
  // Loaded only when needed, because Miniflare takes half a second to load.
  const { applyMissing } = await import('./apply-migrations.ts')
  try {
    await applyMissing(migrations, `${STATE}/v3`)
  } catch (error) {
    const { message } = error as Error
    throw new Error(
      /table \w+ already exists/.test(message) ? OLD_LAYOUT : `${message}\n${CORRECT_IT}`,
    )
  }
}
