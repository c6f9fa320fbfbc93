import { Option } from 'commander'
import { exitWithUsageError, readOptions } from './command-line.ts'
import { type Config, configOf, DEPLOYED } from './config.ts'
import { endingWith, wrangler as runWrangler } from './wrangler.ts'

const options = readOptions<{ env?: string; dryRun?: boolean }>(
  'npm run deploy',
  'Migrates the databases of an environment, then deploys the Worker.',
  (command) =>
    command
      .addOption(new Option('--env <environment>', 'which one').choices(DEPLOYED))
      .option('--dry-run', 'check the configuration and build the Worker, without an account'),
)
// The Deploy to Cloudflare button fills in the top level of wrangler.toml and names no environment;
// Workers Builds, which runs it, sets WORKERS_CI.
const env = options.env ?? (process.env.WORKERS_CI ? '' : undefined)
if (env === undefined) {
  exitWithUsageError('Name the environment: npm run deploy -- --env staging')
}
const config = configOf(env)
const problems = findProblems(config)
endingWith(() => {
  if (options.dryRun) wrangler('deploy', '--minify', '--dry-run', '--outdir', 'dist/worker')
  else if (problems.length === 0) deploy()
})
// At the end, where they are seen.
if (problems.length > 0) {
  console.error([...(options.dryRun ? ['\nNot ready:'] : []), ...problems].join('\n'))
  process.exitCode = 1
} else if (options.dryRun) {
  console.log(
    '\nwrangler.toml is ready. Not checked, because that needs your account: databases, bucket, queues and secrets.',
  )
}

/** Returns what must be corrected in wrangler.toml before an environment is deployed, a line each. */
function findProblems({ d1_databases, vars }: Config): string[] {
  const url = String(vars.BASE_URL)
  const problems: string[] = []
  // BASE_URL is the issuer of every token and decides whether plain HTTP is refused.
  if (!url.startsWith('https://') || !URL.canParse(url))
    problems.push(`BASE_URL is ${url}. Set it in wrangler.toml to the https address of the Worker.`)
  // RFC 2606 §2: nobody can own a name that ends with `.example`.
  else if (new URL(url).hostname.endsWith('.example'))
    problems.push(
      `BASE_URL is the placeholder ${url}. Set it in wrangler.toml to the https address of the Worker.`,
    )
  for (const { binding, database_id } of d1_databases) {
    if (/^[0-]+$/.test(database_id ?? ''))
      problems.push(
        `The database_id of ${binding} is a placeholder. Remove it from wrangler.toml: wrangler finds the database by its name.`,
      )
  }
  return problems
}

function deploy(): void {
  for (const { binding } of config.d1_databases) {
    // D1 does not document `jsonb_each`, and no record can be stored without it.
    wrangler('d1', 'execute', binding, '--remote', '--command', "select 1 from jsonb_each('[1]')")
    wrangler('d1', 'migrations', 'apply', binding, '--remote')
  }
  wrangler('deploy', '--minify')
}

/** Runs wrangler for the environment. */
function wrangler(...args: string[]): void {
  runWrangler([...args, '--env', env!], 'The Worker was not deployed.')
}
