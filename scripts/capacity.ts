import { existsSync } from 'node:fs'
import { Option } from 'commander'
import { type Database, localDatabases, remoteDatabases } from './capacity/databases.ts'
import { describeModel, type Mix, SIZES, type Size, USUAL, YEARS } from './capacity/model.ts'
import { report } from './capacity/report.ts'
import { exitWithUsageError, oneOf, readOptions, wholeNumber } from './command-line.ts'
import { ENVIRONMENTS } from './config.ts'
import { STATE } from './dev/local.ts'

// Exit code 1: a database is nearly full. Exit code 2: wrong usage, or a database did not answer.

const NAMES = ENVIRONMENTS.filter((name) => name !== undefined)

interface Options extends Omit<Mix, 'years'>, Partial<Pick<Mix, 'years'>>, Partial<Size> {
  env?: (typeof NAMES)[number]
  local?: true
  persistTo: string
  model?: true
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

const percent = wholeNumber(0, 100)
const count = wholeNumber(1, 1e12)
const { local, env, persistTo, model, accounts, records, years, ...mix } = readOptions<Options>(
  'npm run capacity',
  'Reports how full the D1 databases of an environment are and when they will be full;\nor, with --model, what an expected load needs and costs.',
  (command) =>
    command
      .option('--env <environment>', NAMES.join(' or '), oneOf(NAMES))
      .addOption(new Option('--local', 'the databases of `npm run dev`').conflicts('env'))
      .option('--persist-to <folder>', 'with --local: the folder of the databases', STATE)
      .addOption(
        new Option('--model', 'computes on paper, with the options below').conflicts([
          'env',
          'local',
        ]),
      )
      .option('--records <count>', 'records a year', count)
      .option('--accounts <count>', 'accounts', count)
      .option('--customers <percent>', 'customers among the records', percent, USUAL.customers)
      .option('--transactions <percent>', 'transactions or events', percent, USUAL.transactions)
      .option('--updates <percent>', 'records sent again with a change', percent, USUAL.updates)
      .option('--replays <percent>', 'records sent again without one', percent, USUAL.replays)
      .option('--per-delivery <count>', 'records in a delivery', count, USUAL.perDelivery)
      .option('--clicks <count>', 'clicks for each customer', wholeNumber(0, 1e6), USUAL.clicks)
      .option('--rules <percent>', 'accounts that have fraud rules', percent, USUAL.rules)
      .option('--exports <percent>', 'accounts that are exported', percent, USUAL.exports)
      .option(
        '--changed-months <count>',
        'months before the open one that change each day',
        wholeNumber(0, 100),
        USUAL.changedMonths,
      )
      .option(
        '--years <count>',
        'years of which records are stored (default: 1 and 3)',
        wholeNumber(1, 10),
      ),
)
if (model) {
  if ((records === undefined) !== (accounts === undefined))
    exitWithUsageError('Use --records and --accounts together.')
  if (mix.customers + mix.transactions > 100)
    exitWithUsageError('--customers and --transactions are together more than 100 percent.')
  const sizes = records && accounts ? [{ records, accounts }] : SIZES
  console.log(describeModel(sizes, { ...USUAL, ...mix }, years ? [years] : YEARS))
  process.exit()
}
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
