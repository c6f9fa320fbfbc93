import assert from 'node:assert/strict'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, test } from 'node:test'
import { parseEnv } from 'node:util'
import { applyMigrations, createSecrets } from '../scripts/dev/local.ts'

// What the build step of `wrangler dev` does besides the documents. dev.test.ts starts wrangler.

const root = mkdtempSync(join(tmpdir(), 'tributary-local-'))
for (const name of ['migrations', 'wrangler.toml'])
  cpSync(name, join(root, name), { recursive: true })
symlinkSync(resolve('node_modules'), join(root, 'node_modules'))
process.chdir(root)
after(() => rmSync(root, { recursive: true, force: true }))

test('creates the secrets that are missing or empty, and keeps the others', async () => {
  const own = 'a-key-that-a-developer-chose-before-the-start'
  writeFileSync('.dev.vars', `# mine\nSIGNING_KEYS='{"keys":[]}'\nADMIN_KEY='${own}'\n`, {
    mode: 0o600,
  })
  await createSecrets()
  const text = readFileSync('.dev.vars', 'utf8')
  const { SIGNING_KEYS = '', TRACKING_KEYS = '', ADMIN_KEY } = parseEnv(text)
  assert.equal(JSON.parse(SIGNING_KEYS).keys.length, 1)
  assert.equal(JSON.parse(TRACKING_KEYS).keys.length, 1)
  assert.equal(ADMIN_KEY, own)
  assert.ok(text.startsWith('# mine\n'))
  assert.equal(statSync('.dev.vars').mode & 0o777, 0o600)
})

test('reports a migration that fails', async () => {
  writeFileSync('migrations/9999_fails.sql', 'creat table fails (id text primary key) strict;')
  await assert.rejects(applyMigrations(), /9999_fails\.sql failed: near "creat"/)
  rmSync('migrations/9999_fails.sql')
})

test('refuses a local database of an older layout, with the command that starts anew', async () => {
  await applyMigrations(() => mkdirSync('.wrangler/state/v3/d1', { recursive: true }))
  const migration = 'migrations/0002_records.sql'
  const text = readFileSync(migration, 'utf8')
  writeFileSync(migration, text.replace('revision', 'version'))
  const message =
    'The local database has the layout of an older version, which this version cannot read. Start with an empty one: npm run dev -- --reset'
  await assert.rejects(applyMigrations(), { message })
})
