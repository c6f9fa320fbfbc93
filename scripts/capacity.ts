import { existsSync } from 'node:fs'
import { Option } from 'commander'
import { type Database, localDatabases, remoteDatabases } from './capacity/databases.ts'
import { report } from './capacity/report.ts'
import { exitWithUsageError, oneOf, readOptions } from './command-line.ts'
import { ENVIRONMENTS } from './config.ts'
import { STATE } from './dev/local.ts'

// Exit code 1: a database is nearly full. Exit code 2: wrong usage, or a database did not answer.

const NAMES = ENVIRONMENTS.filter((name) => name !== undefined)

interface Options {
  env?: (typeof NAMES)[number]
  local?: true
  persistTo: string
}

const run = async (databases: readonly Database[]) => {
  process.exitCode = await report(databases, Date.now(), console.log)
}

async function reportLocal(state: string) {
  const { databases, end } = await localDatabases(state)
  try {
    await run(databases)
  } finally {
    await end()
  }
}

const { local, env, persistTo } = readOptions<Options>(
  'npm run capacity',
  'Reports how full the D1 databases of an environment are and when they will be full.',
  (command) =>
    command
      .option('--env <environment>', NAMES.join(' or '), oneOf(NAMES))
      .addOption(new Option('--local', 'the databases of `npm run dev`').conflicts('env'))
      .option('--persist-to <folder>', 'with --local: the folder of the databases', STATE),
)
if (!local && !env)
  exitWithUsageError(
    `Use --env (${NAMES.join(', ')}) or --local: npm run capacity -- --env production`,
  )
if (local && !existsSync(persistTo))
  exitWithUsageError(`${persistTo} has no local database. \`npm run dev\` creates it.`)
try {
  await (env ? run(remoteDatabases(env)) : reportLocal(persistTo))
} catch (error) {
  // Exit code 1 would mean that a database is nearly full.
  const hint = local ? ' `npm run dev` creates the tables.' : ''
  exitWithUsageError(`capacity: ${error instanceof Error ? error.message : error}.${hint}`)
}
