import { execFileSync } from 'node:child_process'
import { parseAccessRoles } from '../src/auth/access-roles.ts'
import { writeService } from './bundle/bundle.ts'
import { exitWithUsageError, oneOf, readOptions } from './command-line.ts'
import { configOf, ENVIRONMENTS } from './config.ts'

const NAMES = ENVIRONMENTS.filter((name) => name !== undefined)

const options = readOptions<{ env?: string }>(
  'npm run deploy',
  // A migration only adds, so the version that still runs meanwhile is not affected.
  'Migrates the databases of an environment, then deploys the Worker.',
  (command) => command.option('--env <environment>', NAMES.join(' or '), oneOf(NAMES)),
)
// The Deploy to Cloudflare button fills in the top level of wrangler.toml and names no environment;
// Workers Builds, which runs it, sets WORKERS_CI.
const env = options.env ?? (process.env.WORKERS_CI ? '' : undefined)
if (env === undefined) {
  exitWithUsageError('Name the environment: npm run deploy -- --env staging')
}
const { d1_databases, vars } = configOf(env)
// BASE_URL is the issuer of every token and decides whether plain HTTP is refused.
if (!String(vars.BASE_URL).startsWith('https://')) {
  console.error(
    `BASE_URL is ${vars.BASE_URL}. Set it in wrangler.toml to the https address of the Worker.`,
  )
  process.exit(1)
}
// Otherwise nobody could sign in through Cloudflare Access.
if (vars.ACCESS_ROLES) {
  try {
    parseAccessRoles(String(vars.ACCESS_ROLES))
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    console.error('Correct ACCESS_ROLES in wrangler.toml.')
    process.exit(1)
  }
}

const wrangler = (...args: string[]) =>
  execFileSync('node_modules/.bin/wrangler', [...args, '--env', env], { stdio: 'inherit' })

for (const { binding } of d1_databases) {
  // D1 does not document `jsonb_each`, and no record can be stored without it.
  wrangler('d1', 'execute', binding, '--remote', '--command', "select 1 from jsonb_each('[1]')")
  wrangler('d1', 'migrations', 'apply', binding, '--remote')
}
wrangler('deploy', await writeService(), '--no-bundle')
