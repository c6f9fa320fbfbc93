import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
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
  /** The applied migrations, each with its database. */
  keys: string[]
}

const NONE_APPLIED: Applied = { config: '', databases: [], keys: [] }

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
 * Applies the migrations that the local databases lack and returns their file names. Throws if one
 * fails, or if a database has the tables of an older version, which no migration converts.
 */
export async function applyMigrations(): Promise<string[]> {
  const applied: Applied = existsSync(APPLIED_FILE)
    ? JSON.parse(readFileSync(APPLIED_FILE, 'utf8'))
    : NONE_APPLIED
  const config = readFileSync('wrangler.toml', 'utf8')
  const databases = config === applied.config ? applied.databases : await readDatabases()
  const wanted = databases.flatMap(({ binding, database_id, migrations_dir }) =>
    readdirSync(migrations_dir)
      .filter((name) => name.endsWith('.sql'))
      .map((name) => ({ key: `${binding} ${database_id} ${name}`, binding, name })),
  )
  const missing = wanted.filter(({ key }) => !applied.keys.includes(key))
  for (const binding of new Set(missing.map((one) => one.binding))) {
    wrangler(['d1', 'migrations', 'apply', binding, '--local'])
  }
  if (missing.length > 0 || config !== applied.config) {
    const now: Applied = { config, databases, keys: wanted.map(({ key }) => key) }
    mkdirSync(dirname(APPLIED_FILE), { recursive: true })
    writeFileSync(APPLIED_FILE, JSON.stringify(now))
  }
  return [...new Set(missing.map(({ name }) => name))]
}

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
