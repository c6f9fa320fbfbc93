import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, test } from 'node:test'
import { configOf } from '../scripts/config.ts'
import { type Adding, addDatabases } from '../scripts/databases/add.ts'
import { nextBindings } from '../scripts/databases/bindings.ts'
import { KEPT } from '../scripts/databases/kept.ts'

// npm run databases -- add, and npm run backup: in a folder with a wrangler that writes down its arguments.

/** Returns a folder with the configuration of the project, and how to run the command there: in this process. */
function project({
  existing = [],
  fails = 'nothing',
}: {
  existing?: string[]
  fails?: string
} = {}) {
  const cwd = mkdtempSync(join(tmpdir(), 'databases-'))
  for (const file of ['wrangler.toml', 'package.json']) copyFileSync(file, join(cwd, file))
  mkdirSync(join(cwd, 'node_modules/.bin'), { recursive: true })
  const list = JSON.stringify(existing.map((name) => ({ name })))
  const path = join(cwd, 'node_modules/.bin/wrangler')
  const fake = `#!/bin/sh
echo "$*" >> calls
case "$*" in "d1 list --json") echo '${list}';; "r2 bucket list"*) echo "${existing.join('\n')}";; "${fails}"*) exit 3;; esac`
  writeFileSync(path, fake)
  chmodSync(path, 0o755)
  const add = (count: number, jurisdiction?: Adding['jurisdiction'], more: Partial<Adding> = {}) =>
    addDatabases(cwd, { count, ...(jurisdiction && { jurisdiction }), print: () => {}, ...more })
  const calls = () => readFileSync(join(cwd, 'calls'), 'utf8').trim().split('\n')
  const config = (env?: string) => configOf(env, join(cwd, 'wrangler.toml'))
  const bindings = (env?: string) => config(env).d1_databases
  const read = (file: string) => readFileSync(join(cwd, file), 'utf8')
  return { cwd, add, calls, config, bindings, read }
}

/** Runs a script as a process. */
const run = (cwd: string, script: string, ...args: string[]) =>
  spawnSync(process.execPath, [resolve(script), ...args], { cwd, encoding: 'utf8' })
const start = (cwd: string, ...args: string[]) => run(cwd, 'scripts/databases.ts', ...args)

test('the next databases of a jurisdiction have the next numbers', () => {
  assert.deepEqual(nextBindings(['DB'], 2, null), ['DB_2', 'DB_3'])
  assert.deepEqual(nextBindings(['DB', 'DB_9', 'DB_EU_4', 'DB_X'], 1, null), ['DB_10'])
  assert.deepEqual(nextBindings(['DB', 'DB_9', 'DB_EU_4'], 2, 'eu'), ['DB_EU_5', 'DB_EU_6'])
  assert.deepEqual(nextBindings(['DB', 'DB_9', 'DB_EU_4'], 1, 'fedramp'), ['DB_FEDRAMP_1'])
})

describe('npm run databases -- add', () => {
  test('creates, binds and migrates databases in each environment, and says what to deploy', () => {
    const { cwd, calls, bindings, read } = project()
    const { status, stdout } = start(cwd, 'add', '2', '--jurisdiction', 'eu')
    assert.equal(status, 0)
    const names = (env: string) => [1, 2].map((n) => `tributary-${env}-eu-${n}`)
    assert.deepEqual(calls(), [
      'd1 list --json',
      ...[...names('staging'), ...names('production')].map(
        (name) => `d1 create ${name} --jurisdiction eu`,
      ),
      'r2 bucket list --jurisdiction eu',
      ...['staging', 'production'].map(
        (env) => `r2 bucket create tributary-exports-${env}-eu --jurisdiction eu`,
      ),
      ...['staging', 'production'].flatMap((env) =>
        [1, 2].map((n) => `d1 migrations apply DB_EU_${n} --remote --env ${env}`),
      ),
      'types src/worker-configuration.d.ts --include-runtime=false --strict-vars=false',
    ])
    for (const env of ['staging', 'production']) {
      assert.deepEqual(
        bindings(env).map(({ binding, database_name }) => [binding, database_name]),
        [['DB', `tributary-${env}`], ...[1, 2].map((n) => [`DB_EU_${n}`, names(env)[n - 1]])],
      )
    }
    // The local databases are different ones.
    assert.equal(new Set(bindings().map(({ database_id }) => database_id)).size, 3)
    assert.ok(bindings().every(({ migrations_dir }) => migrations_dir === 'migrations'))
    const { cloudflare } = JSON.parse(read('package.json'))
    const described = Object.keys(cloudflare.bindings)
    const at = described.indexOf('DB')
    assert.deepEqual(described.slice(at, at + 3), ['DB', 'DB_EU_1', 'DB_EU_2'])
    assert.match(
      stdout,
      /Added DB_EU_1, DB_EU_2, EXPORTS_EU\.[\s\S]*npm run deploy -- --env production/,
    )
  })

  test('a database that an earlier attempt has created is not created again', () => {
    const { add, calls } = project({ existing: ['tributary-staging-2', 'tributary-production-2'] })
    add(1)
    assert.deepEqual(calls(), [
      'd1 list --json',
      'd1 migrations apply DB_2 --remote --env staging',
      'd1 migrations apply DB_2 --remote --env production',
      'types src/worker-configuration.d.ts --include-runtime=false --strict-vars=false',
    ])
  })

  test('the first database of a jurisdiction brings its bucket, further ones use it', () => {
    const { add, calls, config, read } = project({ existing: ['tributary-exports-staging-us'] })
    add(1, 'us')
    const buckets = () => calls().filter((call) => call.startsWith('r2 bucket create'))
    assert.deepEqual(buckets(), [
      'r2 bucket create tributary-exports-production-us --jurisdiction us',
    ])
    for (const [env, bucket_name] of [
      [undefined, 'tributary-exports-us'],
      ['staging', 'tributary-exports-staging-us'],
      ['production', 'tributary-exports-production-us'],
    ] as const) {
      assert.deepEqual(config(env).r2_buckets, [
        { binding: 'EXPORTS', bucket_name: bucket_name.slice(0, -'-us'.length) },
        { binding: 'EXPORTS_US', bucket_name, jurisdiction: 'us' },
      ])
    }
    const { cloudflare } = JSON.parse(read('package.json'))
    const described = Object.keys(cloudflare.bindings)
    assert.equal(described[described.indexOf('EXPORTS') + 1], 'EXPORTS_US')
    const before = calls().length
    add(1, 'us')
    assert.ok(!calls().slice(before).join().includes('r2 bucket'))
  })

  test('a step that fails is named, and nothing is bound before all are created', () => {
    const { add, read } = project({ fails: 'd1 create tributary-production' })
    assert.throws(() => add(1), {
      exitCode: 1,
      message:
        '`wrangler d1 create tributary-production-2` failed with exit code 3. Repeat the command: what it has created is not created again.',
    })
    assert.equal(read('wrangler.toml'), readFileSync('wrangler.toml', 'utf8'))
  })

  test('--dry-run prints the commands and changes nothing', () => {
    const { add, read } = project()
    const printed: string[] = []
    add(1, undefined, { location: 'weur', dryRun: true, print: (line) => printed.push(line) })
    assert.ok(printed.includes('Would run: wrangler d1 create tributary-staging-2 --location weur'))
    assert.ok(printed.every((line) => line.startsWith('Would ')))
    assert.equal(read('wrangler.toml'), readFileSync('wrangler.toml', 'utf8'))
  })

  for (const [args, reason] of [
    [['add', '0'], /Use a whole number from 1 to 20/],
    [['add', '1', '--jurisdiction', 'mars'], /choices are eu, us, fedramp/],
    [['add', '1'], /^Say where the databases are: .* They never move\.$/m],
    [['add', '1', '--jurisdiction', 'eu', '--location', 'weur'], /cannot be used with/],
  ] as const) {
    test(`${args.join(' ')} is refused`, () => {
      const { status, stderr } = start('.', ...args)
      assert.equal(status, 2)
      assert.match(stderr, reason)
    })
  }
})

describe('npm run backup', () => {
  test('what wrangler prints of a step that fails is shown', () => {
    const { cwd } = project()
    writeFileSync(join(cwd, 'node_modules/.bin/wrangler'), '#!/bin/sh\necho not signed in\nexit 3')
    const { status, stderr } = run(cwd, 'scripts/backup.ts', '--env', 'production')
    assert.equal(status, 1)
    assert.match(stderr, /^not signed in\n`wrangler d1 execute DB` failed with exit code 3\. /)
  })

  const row = `INSERT INTO fx_rates (day, known_from, rates) VALUES (1, 1, '{}');`
  for (const [what, counted, exported, expected] of [
    ['has the rows of the database', 1, row, /^backup\/production\/DB\.sql: 1 rows, checked$/],
    ['lacks a row', 2, row, /^The copy of DB has 1 rows of fx_rates, and the database 2\. /],
    ['cannot be loaded', 1, 'INSERT INTO', /^The copy of DB cannot be restored: /],
  ] as const) {
    test(`a copy that ${what}`, () => {
      const { cwd } = project()
      symlinkSync(resolve('migrations'), join(cwd, 'migrations'))
      const counts = Object.fromEntries(KEPT.map((table) => [table, 0]))
      const answer = JSON.stringify([{ results: [{ ...counts, fx_rates: counted }] }])
      writeFileSync(
        join(cwd, 'node_modules/.bin/wrangler'),
        `#!/bin/sh
case "$*" in
  "d1 execute"*) echo '${answer}' ;;
  "d1 export"*"--table fx_rates"*) echo "${exported}" > backup/production/DB.part.sql ;;
  "d1 export"*) echo > backup/production/DB.part.sql ;;
  *) echo "$*" >> calls ;;
esac`,
      )
      const backup = () => run(cwd, 'scripts/backup.ts', '--env', 'production', '--bucket', 'b')
      const { status, stdout, stderr } = backup()
      assert.match(`${stdout}${stderr}`.trim(), expected)
      const isGood = what === 'has the rows of the database'
      assert.deepEqual([status, existsSync(join(cwd, 'calls'))], [isGood ? 0 : 1, isGood])
      assert.equal(existsSync(join(cwd, 'backup/production/DB.sql')), isGood)
    })
  }
})
