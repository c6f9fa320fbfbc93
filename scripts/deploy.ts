import { execFileSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { configOf } from './config.ts'

// Migrates, by binding name, then deploys: `npm run deploy -- --env production`. A migration only
// ever adds, so the version that still runs meanwhile does not mind.

const { values } = parseArgs({ options: { env: { type: 'string' } } })
const { env } = values
if (env === undefined) {
  console.error('Say which environment: npm run deploy -- --env staging')
  process.exit(2)
}
const wrangler = (...args: string[]) =>
  execFileSync('node_modules/.bin/wrangler', [...args, '--env', env], { stdio: 'inherit' })

for (const { binding } of configOf(env).d1_databases) {
  // Not documented for D1: without it no record could be stored, so it is asked for first.
  wrangler('d1', 'execute', binding, '--remote', '--command', "select 1 from jsonb_each('[1]')")
  wrangler('d1', 'migrations', 'apply', binding, '--remote')
}
wrangler('deploy', '--minify')
