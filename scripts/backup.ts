import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Option } from 'commander'
import { exitWithUsageError, readOptions } from './command-line.ts'
import { configOf, DEPLOYED } from './config.ts'
import { KEPT, restoring } from './databases/kept.ts'
import { ExitError, messageOf } from './exit-error.ts'
import { endingWith, wrangler } from './wrangler.ts'

// Exit code 1: a step of wrangler failed, or a copy is not what the database has.

const MIGRATIONS = 'migrations'
/** Counts the rows of each table that is kept. */
const COUNTS = `select ${KEPT.map((table) => `(select count(*) from ${table}) ${table}`).join()}`

const { env, database, bucket, local } = readOptions<{
  env?: string
  database?: string
  bucket?: string
  local?: true
}>(
  'npm run backup',
  `Saves the settings and books of each database as a file that restores them, backup/ENVIRONMENT/DB.sql, and
loads each copy to check it. Records are not saved: their senders have them.`,
  (command) =>
    command
      .addOption(new Option('--env <environment>', 'which one').choices(DEPLOYED))
      .option('--database <binding>', 'only this database')
      .option('--bucket <name>', 'also puts the files into this bucket of R2, below the day')
      .addOption(
        new Option('--local', 'the databases of `npm run dev`').conflicts(['env', 'bucket']),
      ),
)
if (!env && !local) exitWithUsageError('Name the environment: npm run backup -- --env production')

const bindings = configOf(env)
  .d1_databases.map(({ binding }) => binding)
  .filter((binding) => database === undefined || binding === database)
if (bindings.length === 0) exitWithUsageError(`wrangler.toml has no database \`${database}\`.`)
const folder = join('backup', env ?? 'local')
const where = env ? ['--env', env, '--remote'] : ['--local']

endingWith(() => {
  mkdirSync(folder, { recursive: true })
  for (const binding of bindings) {
    const rows = save(binding)
    console.log(`${join(folder, binding)}.sql: ${rows} rows, checked`)
  }
})

/** Saves a database, checks the copy, and returns the number of its rows. */
function save(binding: string): number {
  const file = join(folder, `${binding}.sql`)
  const before = countRows(binding)
  const lines = exported(binding, KEPT.slice(0, 1))
  const others = exported(binding, KEPT.slice(1))
  const after = countRows(binding)
  const sql = restoring(lines, others)
  const copied = load(binding, sql)
  for (const table of KEPT) {
    const [rows, counted] = [copied[table]!, [before[table]!, after[table]!]]
    if (rows >= Math.min(...counted) && rows <= Math.max(...counted)) continue
    const differs = `${rows} rows of ${table}, and the database ${after[table]}`
    throw new ExitError(1, `The copy of ${binding} has ${differs}. Repeat the command.`)
  }
  // It has digests and names.
  writeFileSync(file, sql, { mode: 0o600 })
  if (bucket) {
    const key = `${bucket}/${env}/${new Date().toISOString().slice(0, 10)}/${binding}.sql`
    step('r2', 'object', 'put', key, '--file', file, '--remote')
  }
  return Object.values(copied).reduce((sum, rows) => sum + rows, 0)
}

/** Returns the rows of tables of a database, as statements that insert them. */
function exported(binding: string, tables: readonly string[]): string {
  const part = join(folder, `${binding}.part.sql`)
  const named = tables.flatMap((table) => ['--table', table])
  const form = ['--output', part, '--no-schema', '--skip-confirmation']
  step('d1', 'export', binding, ...where, ...form, ...named)
  try {
    return readFileSync(part, 'utf8')
  } finally {
    rmSync(part)
  }
}

/** Returns the number of rows of each table that is kept. */
function countRows(binding: string): Record<string, number> {
  const answer = step('d1', 'execute', binding, ...where, '--json', '--command', COUNTS)
  return JSON.parse(answer)[0].results[0]
}

/** Loads a copy into an empty database, as a restore does, and returns the number of rows of each table. */
function load(binding: string, sql: string): Record<string, number> {
  const copy = new DatabaseSync(':memory:')
  try {
    for (const file of readdirSync(MIGRATIONS).toSorted())
      copy.exec(readFileSync(join(MIGRATIONS, file), 'utf8'))
    copy.exec(`BEGIN; PRAGMA defer_foreign_keys = on;${sql}COMMIT;`)
    return copy.prepare(COUNTS).get() as Record<string, number>
  } catch (error) {
    throw new ExitError(1, `The copy of ${binding} cannot be restored: ${messageOf(error)}`, error)
  } finally {
    copy.close()
  }
}

/** Runs wrangler, and returns what it printed. */
function step(...args: string[]): string {
  return wrangler(args, 'Nothing was changed. Repeat the command.', { isRead: true })
}
