import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { Argument, Option } from 'commander'
import { JURISDICTIONS } from '../src/accounts/fields.ts'
import { exitWithUsageError, parseCommand, wholeNumber } from './command-line.ts'
import { configOf, ENVIRONMENTS } from './config.ts'
import {
  type Bucket,
  describeBindings,
  nextBindings,
  withBucket,
  withDatabases,
} from './databases/bindings.ts'

// Exit code 1: a step of wrangler failed; the last line says whether to repeat the command.

const NAMES = ENVIRONMENTS.filter((name) => name !== undefined)

const command = parseCommand(
  'npm run databases',
  'Adds D1 databases, and for the first of a jurisdiction its R2 bucket: creates them, writes their\nbindings into wrangler.toml and package.json, migrates them and prints what to deploy.',
  (own) =>
    own
      .addArgument(new Argument('<action>').choices(['add']))
      .addArgument(new Argument('<count>', 'how many').argParser(wholeNumber(1, 20)))
      .addOption(new Option('--jurisdiction <name>', 'where the data stays').choices(JURISDICTIONS))
      .option('--dry-run', 'prints the commands of wrangler, and changes nothing'),
)
interface Options {
  jurisdiction?: (typeof JURISDICTIONS)[number]
  dryRun?: true
}
const { jurisdiction, dryRun } = command.opts<Options>()
const [, count] = command.processedArgs as [string, number]

const known = configOf(undefined).d1_databases.map(({ binding }) => binding)
const bindings = nextBindings(known, count, jurisdiction ?? null)

/** Returns the name of a database: `tributary-production-eu-1` is `DB_EU_1`. */
const nameOf = (name: string | undefined, binding: string): string => {
  const directory = configOf(name).d1_databases.find((one) => one.binding === 'DB')?.database_name
  return `${directory}${binding.slice('DB'.length).toLowerCase().replaceAll('_', '-')}`
}

/** Returns the bucket of the jurisdiction, unless wrangler.toml has one. */
function missingBucket(): Bucket | null {
  if (!jurisdiction) return null
  const binding = `ARCHIVE_${jurisdiction.toUpperCase()}`
  const nameIn = (name: string | undefined) => {
    const shared = configOf(name).r2_buckets.find((one) => one.binding === 'ARCHIVE')?.bucket_name
    return `${shared}-${jurisdiction}`
  }
  const isKnown = configOf(undefined).r2_buckets.some((one) => one.binding === binding)
  return isKnown ? null : { binding, jurisdiction, nameIn }
}
const bucket = missingBucket()

/** What to do after a step that failed: before the bindings are written, and afterwards. */
const REPEAT = 'Repeat the command: what it has created is not created again.'
const BOUND =
  'The bindings are written. Do not repeat the command: `npm run deploy` migrates as well.'
let isBound = false

/** The descriptions of bindings. */
const DATABASE = 'Records of accounts. Each deployment migrates it.'
const BUCKET = 'The bucket with the objects of accounts of this jurisdiction.'

/** Runs wrangler. Returns what it printed, which goes to the terminal if it fails or is not read. */
function wrangler(args: readonly string[], isRead = false): string {
  if (dryRun) {
    console.log(`wrangler ${args.join(' ')}`)
    return '[]'
  }
  const { status, error, stdout } = spawnSync('node_modules/.bin/wrangler', args, {
    encoding: 'utf8',
    stdio: ['ignore', isRead ? 'pipe' : 'inherit', 'inherit'],
  })
  if (status === 0) return stdout ?? ''
  const reason = error ? `could not start: ${error.message}` : `failed with exit code ${status}`
  console.error(`\`wrangler ${args.slice(0, 3).join(' ')}\` ${reason}. ${isBound ? BOUND : REPEAT}`)
  process.exit(1)
}

let existing: { name: string }[]
try {
  existing = JSON.parse(wrangler(['d1', 'list', '--json'], true))
} catch {
  exitWithUsageError('`wrangler d1 list` printed no list of databases. Sign in: wrangler login')
}
for (const name of NAMES) {
  for (const binding of bindings) {
    const database = nameOf(name, binding)
    // An earlier attempt has created it.
    if (existing.some((one) => one.name === database)) continue
    wrangler(['d1', 'create', database, ...(jurisdiction ? ['--jurisdiction', jurisdiction] : [])])
  }
}
if (bucket) {
  const place = ['--jurisdiction', bucket.jurisdiction]
  const known = wrangler(['r2', 'bucket', 'list', ...place], true).split(/\s+/)
  for (const name of NAMES) {
    const own = bucket.nameIn(name)
    if (!known.includes(own)) wrangler(['r2', 'bucket', 'create', own, ...place])
  }
}
if (!dryRun) {
  const toml = readFileSync('wrangler.toml', 'utf8')
  const bound = withDatabases(toml, bindings, nameOf)
  writeFileSync('wrangler.toml', bucket ? withBucket(bound, bucket) : bound)
  const manifest = readFileSync('package.json', 'utf8')
  const described = describeBindings(manifest, 'DB', bindings, DATABASE)
  writeFileSync(
    'package.json',
    bucket ? describeBindings(described, 'ARCHIVE', [bucket.binding], BUCKET) : described,
  )
  isBound = true
}
for (const name of NAMES) {
  for (const binding of bindings) {
    wrangler(['d1', 'migrations', 'apply', binding, '--remote', '--env', name])
  }
}
wrangler(['types', '--include-runtime=false', '--strict-vars=false'], true)
const added = [...bindings, ...(bucket ? [bucket.binding] : [])]
console.log(`Added ${added.join(', ')}. Next:
  npm run check
  git commit wrangler.toml package.json worker-configuration.d.ts
${NAMES.map((name) => `  npm run deploy -- --env ${name}`).join('\n')}
Ten minutes later \`npm run admin -- databases list\` has their sizes, and new accounts go to the emptiest.`)
