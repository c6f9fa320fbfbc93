import { existsSync } from 'node:fs'
import { Option } from 'commander'
import { type Database, localDatabases, remoteDatabases } from './capacity/databases.ts'
import { ACT, type Fill, LIMIT_BYTES, measureFill, WARN } from './capacity/fill.ts'
import { exitWithUsageError, oneOf, readOptions } from './command-line.ts'
import { ENVIRONMENTS } from './config.ts'
import { STATE } from './dev/local.ts'

// Exit code 1: a database is nearly full. Exit code 2: wrong usage, or a database did not answer.

/** The number of accounts listed for each database. */
const LISTED_ACCOUNTS = 5

const NAMES = ENVIRONMENTS.filter((name) => name !== undefined)

interface Options {
  env?: (typeof NAMES)[number]
  local?: true
  persistTo: string
}

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const percent = (share: number) => `${(share * 100).toFixed(1)} %`

function size(bytes: number): string {
  if (bytes >= 1e9) return `${(bytes / 1e9).toFixed(2)} GB`
  return bytes >= 1e6 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e3).toFixed(1)} kB`
}

function formatFill({ binding, name, bytes, share, records, accounts, ...rest }: Fill): string {
  const { writtenToday, growth, daysLeft } = rest
  const lines = [
    `${binding} (${name}): ${size(bytes)}, ${percent(share)} of ${size(LIMIT_BYTES)}`,
    `  ${whole.format(records)} records, accounts: ${accounts.length}`,
    ...accounts.slice(0, LISTED_ACCOUNTS).map((one) => {
      const part = percent(one.records / records)
      return `    ${one.account}: ${whole.format(one.records)} (${part})`
    }),
  ]
  if (accounts.length > LISTED_ACCOUNTS)
    lines.push(`    and ${accounts.length - LISTED_ACCOUNTS} more`)
  if (writtenToday !== null) lines.push(`  ${whole.format(writtenToday)} rows written in 24 h`)
  if (growth !== null && daysLeft !== null)
    lines.push(`  grows by about ${size(growth)} a day: full in ${whole.format(daysLeft)} days`)
  if (share >= WARN) {
    const [state, when] = share >= ACT ? ['NEARLY FULL', 'now'] : ['filling up', 'soon']
    lines.push(`  ${state}: create new accounts in another database ${when}, see docs/runbook.md`)
  }
  return lines.join('\n')
}

async function report(databases: readonly Database[]) {
  for (const database of databases) {
    const fill = await measureFill(database, Date.now())
    console.log(formatFill(fill))
    if (fill.share >= ACT) process.exitCode = 1
  }
}

async function reportLocal(state: string) {
  const { databases, end } = await localDatabases(state)
  try {
    await report(databases)
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
  await (env ? report(remoteDatabases(env)) : reportLocal(persistTo))
} catch (error) {
  // Exit code 1 would mean that a database is nearly full.
  const hint = local ? ' `npm run dev` creates the tables.' : ''
  exitWithUsageError(`capacity: ${error instanceof Error ? error.message : error}.${hint}`)
}
