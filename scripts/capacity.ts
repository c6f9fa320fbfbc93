import { existsSync } from 'node:fs'
import { type Database, localDatabases, remoteDatabases } from './capacity/databases.ts'
import { ACT, type Fill, fillOf, LIMIT_BYTES, WARN } from './capacity/fill.ts'
import { ENVIRONMENTS } from './config.ts'
import { misused, readOptions } from './said.ts'

// How full each D1 database is: `npm run capacity -- --env production`, or `--local` for that of
// `npm run dev`. Exit code 1: one of them is so full that a new binding cannot wait; 2: wrong usage,
// or it could not be asked.

const MOST = 5
const STATE = '.wrangler/state'

const values = readOptions({
  env: { type: 'string' },
  local: { type: 'boolean', default: false },
  'persist-to': { type: 'string', default: STATE },
})

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const percent = (share: number) => `${(share * 100).toFixed(1)} %`

function size(bytes: number): string {
  if (bytes >= 1e9) return `${(bytes / 1e9).toFixed(2)} GB`
  return bytes >= 1e6 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e3).toFixed(1)} kB`
}

function show({ binding, name, bytes, share, records, accounts, ...more }: Fill): string {
  const { writtenToday, growth, daysLeft } = more
  const lines = [
    `${binding} (${name}): ${size(bytes)}, ${percent(share)} of ${size(LIMIT_BYTES)}`,
    `  ${whole.format(records)} records, accounts: ${accounts.length}`,
    ...accounts
      .slice(0, MOST)
      .map(
        (one) =>
          `    ${one.account}: ${whole.format(one.records)} (${percent(one.records / records)})`,
      ),
  ]
  if (accounts.length > MOST) lines.push(`    and ${accounts.length - MOST} more`)
  if (writtenToday !== null) lines.push(`  ${whole.format(writtenToday)} rows written in 24 h`)
  if (growth !== null && daysLeft !== null)
    lines.push(`  grows by about ${size(growth)} a day: full in ${whole.format(daysLeft)} days`)
  if (share >= WARN) {
    const [how, what] = share >= ACT ? ['FULL SOON', 'now'] : ['filling up', 'soon']
    lines.push(`  ${how}: name another binding on new accounts ${what}, see docs/runbook.md`)
  }
  return lines.join('\n')
}

async function tell(databases: readonly Database[]) {
  for (const database of databases) {
    const fill = await fillOf(database, Date.now())
    console.log(show(fill))
    if (fill.share >= ACT) process.exitCode = 1
  }
}

async function tellLocal(state: string) {
  const { databases, end } = await localDatabases(state)
  try {
    await tell(databases)
  } finally {
    await end()
  }
}

const { local, env, 'persist-to': state } = values
if (local && env) misused('Say --local or --env, and not both.')
if (local && !existsSync(state))
  misused(`There is no local database in ${state}: npm run dev makes one.`)
if (!local && !(env && (ENVIRONMENTS as readonly unknown[]).includes(env))) {
  const known = ENVIRONMENTS.filter(Boolean).join(', ')
  const wrong = env ? `There is no environment ${env}. ` : ''
  misused(
    `${wrong}Say which environment (${known}), or --local: npm run capacity -- --env production`,
  )
}
try {
  await (local ? tellLocal(state) : tell(remoteDatabases(env!)))
} catch (error) {
  // Not 1: what could not be asked is not full.
  const hint = local ? ' Its tables are made by npm run dev.' : ''
  misused(`capacity: ${error instanceof Error ? error.message : error}.${hint}`)
}
