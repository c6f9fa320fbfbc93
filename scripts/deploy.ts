import { execFileSync } from 'node:child_process'
import { configOf, ENVIRONMENTS } from './config.ts'
import { misused, readOptions } from './said.ts'

// Migrates, by binding name, then deploys: `npm run deploy -- --env production`. A migration only
// ever adds, so the version that still runs meanwhile does not mind.

const values = readOptions({ env: { type: 'string' } })
// The Deploy to Cloudflare button names no environment: it has filled in the top level, and
// Workers Builds, which says of itself that it is there, deploys just that.
const env = values.env ?? (process.env.WORKERS_CI ? '' : undefined)
if (env === undefined) misused('Say which environment: npm run deploy -- --env staging')
const known = ENVIRONMENTS.filter((name) => name !== undefined)
if (env !== '' && !known.some((name) => name === env)) {
  misused(`There is no environment ${env}; known are ${known.join(', ')}.`)
}
const { d1_databases, vars } = configOf(env)
// It is the issuer of every token, and what it says of HTTPS is believed.
if (!String(vars.BASE_URL).startsWith('https://')) {
  console.error(
    `BASE_URL is ${vars.BASE_URL}: set it in wrangler.toml to the https address of the Worker.`,
  )
  process.exit(1)
}

const wrangler = (...args: string[]) =>
  execFileSync('node_modules/.bin/wrangler', [...args, '--env', env], { stdio: 'inherit' })

for (const { binding } of d1_databases) {
  // Not documented for D1: without it no record could be stored, so it is asked for first.
  wrangler('d1', 'execute', binding, '--remote', '--command', "select 1 from jsonb_each('[1]')")
  wrangler('d1', 'migrations', 'apply', binding, '--remote')
}
wrangler('deploy', '--minify')
