import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { after, test } from 'node:test'
import { copyRepository } from './service.ts'

// A new field needs one line and a migration. Every other file is derived, and `--check` reports it.

const root = copyRepository()
after(() => rmSync(root, { recursive: true, force: true }))

const run = (...args: string[]) =>
  spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8', env: process.env })

const TEXT_FILES = /\.(ts|json|md|sql|toml|html|css|js)$/

/** Returns the content of each file, by its path. */
const snapshot = () =>
  new Map(
    readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((path) => !path.startsWith('node_modules') && !path.startsWith('dist'))
      .map((path) => join(root, path))
      .filter((path) => TEXT_FILES.test(path) && statSync(path).isFile())
      .map((path) => [relative(root, path), readFileSync(path, 'utf8')] as const),
  )

/** Returns the files that `--check` reports. */
const staleFiles = () =>
  [run('scripts/tables.ts', '--check'), run('scripts/generate.ts', '--check')]
    .flatMap(({ stderr }) => [...stderr.matchAll(/^(\S+) is out of date/gm)])
    .map(([, path]) => path)

test('a new field makes the derived files stale until they are generated', () => {
  assert.deepEqual(staleFiles(), [])
  const forex = join(root, 'src/trading/forex.ts')
  const line =
    "    platform: v.optional(describeField(f.text, documentation('The trading platform.', 'MT5'))),\n"
  const source = readFileSync(forex, 'utf8')
  writeFileSync(
    forex,
    source.replace(/^ +\.\.\.shared\.customer,\n/m, (found) => found + line),
  )
  writeFileSync(
    join(root, 'migrations/0099_platform.sql'),
    'ALTER TABLE customers ADD COLUMN platform TEXT;\n',
  )
  const derived = ['src/db/schema.ts', 'schemas/v1/forex/customer.json', 'openapi.json']
  assert.deepEqual(staleFiles(), derived)

  const before = snapshot()
  for (const script of ['scripts/tables.ts', 'scripts/generate.ts'])
    assert.equal(run(script).status, 0)
  assert.deepEqual(staleFiles(), [])
  const changed = [...snapshot()].filter(([path, text]) => before.get(path) !== text)
  assert.deepEqual(changed.map(([path]) => path).toSorted(), derived.toSorted())
  const schema = JSON.parse(readFileSync(join(root, 'schemas/v1/forex/customer.json'), 'utf8'))
  assert.equal(schema.properties.platform.description, 'The trading platform.')
  assert.equal(schema.examples[0].platform, 'MT5')
})
