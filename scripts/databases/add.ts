import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JURISDICTIONS } from '../../src/accounts/fields.ts'
import { type Config, configOf, DEPLOYED } from '../config.ts'
import { usageError } from '../exit-error.ts'
import { wrangler as runWrangler } from '../wrangler.ts'
import {
  type Bucket,
  describeBindings,
  nextBindings,
  withBucket,
  withDatabases,
} from './bindings.ts'

/** What to do after a step that failed: before the bindings are written, and afterwards. */
const REPEAT = 'Repeat the command: what it has created is not created again.'
const BOUND =
  'The bindings are written. Do not repeat the command: `npm run deploy` migrates as well.'

/** The descriptions of bindings. */
const DATABASE = 'Records of accounts. Each deployment migrates it.'
const BUCKET = 'The bucket with the objects of accounts of this jurisdiction.'

/** Where D1 can create a database that has no jurisdiction. */
export const LOCATIONS = ['weur', 'eeur', 'wnam', 'enam', 'apac', 'oc'] as const

/** What is added. */
export interface Adding {
  readonly count: number
  readonly jurisdiction?: (typeof JURISDICTIONS)[number]
  /** Where the databases are, unless a jurisdiction says so. */
  readonly location?: (typeof LOCATIONS)[number]
  /** Prints what would be run, and changes nothing. */
  readonly dryRun?: true
  readonly print: (text: string) => void
}

/**
 * Adds databases to the project in a folder.
 *
 * @throws ExitError if a step of wrangler fails; its line says whether to repeat the command.
 */
export function addDatabases(
  root: string,
  { count, jurisdiction, location, dryRun, print }: Adding,
): void {
  const configIn = (name: string | undefined) => configOf(name, join(root, 'wrangler.toml'))
  const known = configIn(undefined).d1_databases.map(({ binding }) => binding)
  const bindings = nextBindings(known, count, jurisdiction ?? null)

  /** Returns the name of a database: `tributary-production-eu-1` is `DB_EU_1`. */
  const nameOf = (name: string | undefined, binding: string): string => {
    const directory = configIn(name).d1_databases.find((one) => one.binding === 'DB')
    const suffix = binding.slice('DB'.length).toLowerCase().replaceAll('_', '-')
    return `${directory?.database_name}${suffix}`
  }

  const place = Object.entries({ jurisdiction, location }).flatMap(([option, value]) =>
    value ? [`--${option}`, value] : [],
  )
  const bucket = jurisdiction ? missingBucket(jurisdiction, configIn) : null
  let isBound = false

  /** Runs wrangler, unless it would only be run. Returns what it printed, if that is read. */
  function wrangler(args: readonly string[], isRead = false): string {
    if (!dryRun) return runWrangler(args, isBound ? BOUND : REPEAT, { cwd: root, isRead })
    print(`Would run: wrangler ${args.join(' ')}`)
    return '[]'
  }

  const listed = wrangler(['d1', 'list', '--json'], true)
  let existing: { name: string }[]
  try {
    existing = JSON.parse(listed)
  } catch {
    throw usageError('`wrangler d1 list` printed no list of databases. Sign in: wrangler login')
  }
  for (const name of DEPLOYED) {
    for (const binding of bindings) {
      const database = nameOf(name, binding)
      // An earlier attempt has created it.
      if (existing.some((one) => one.name === database)) continue
      wrangler(['d1', 'create', database, ...place])
    }
  }
  if (bucket) {
    const known = wrangler(['r2', 'bucket', 'list', ...place], true).split(/\s+/)
    for (const name of DEPLOYED) {
      const own = bucket.nameIn(name)
      if (!known.includes(own)) wrangler(['r2', 'bucket', 'create', own, ...place])
    }
  }
  if (!dryRun) {
    writeBindings(root, bindings, bucket, nameOf)
    isBound = true
  }
  for (const name of DEPLOYED) {
    for (const binding of bindings) {
      wrangler(['d1', 'migrations', 'apply', binding, '--remote', '--env', name])
    }
  }
  wrangler(
    ['types', 'src/worker-configuration.d.ts', '--include-runtime=false', '--strict-vars=false'],
    true,
  )
  const added = [...bindings, ...(bucket ? [bucket.binding] : [])]
  print(`${dryRun ? 'Would add' : 'Added'} ${added.join(', ')}. Next:
  npm run check
  git commit wrangler.toml package.json src/worker-configuration.d.ts
${DEPLOYED.map((name) => `  npm run deploy -- --env ${name}`).join('\n')}
Ten minutes later \`npm run admin -- databases list\` has their sizes, and new accounts go to the emptiest.`)
}

/** Writes the bindings into wrangler.toml, and their descriptions into package.json. */
function writeBindings(
  root: string,
  bindings: readonly string[],
  bucket: Bucket | null,
  nameOf: Parameters<typeof withDatabases>[2],
): void {
  const [tomlPath, manifestPath] = [join(root, 'wrangler.toml'), join(root, 'package.json')]
  const bound = withDatabases(readFileSync(tomlPath, 'utf8'), bindings, nameOf)
  writeFileSync(tomlPath, bucket ? withBucket(bound, bucket) : bound)
  const manifest = readFileSync(manifestPath, 'utf8')
  const described = describeBindings(manifest, 'DB', bindings, DATABASE)
  writeFileSync(
    manifestPath,
    bucket ? describeBindings(described, 'EXPORTS', [bucket.binding], BUCKET) : described,
  )
}

/** Returns the bucket of a jurisdiction, unless wrangler.toml has one. */
function missingBucket(
  jurisdiction: string,
  configIn: (name: string | undefined) => Config,
): Bucket | null {
  const binding = `EXPORTS_${jurisdiction.toUpperCase()}`
  const nameIn = (name: string | undefined) => {
    const shared = configIn(name).r2_buckets.find((one) => one.binding === 'EXPORTS')?.bucket_name
    return `${shared}-${jurisdiction}`
  }
  const isKnown = configIn(undefined).r2_buckets.some((one) => one.binding === binding)
  return isKnown ? null : { binding, jurisdiction, nameIn }
}
