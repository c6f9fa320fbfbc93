import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { parseEnv, promisify } from 'node:util'
import { copyServed } from './service.ts'

// The build step of `wrangler dev`. dev.test.ts starts wrangler.

const root = copyServed()
/** A value of the developer's own, which must survive. */
const OWN_KEY = 'a-key-that-a-developer-chose-before-the-start'
const secrets = join(root, '.dev.vars')

/** Builds as wrangler does for one of its commands. */
const build = (WRANGLER_COMMAND: string) =>
  promisify(execFile)(process.execPath, ['scripts/build.ts'], {
    cwd: root,
    env: { ...process.env, WRANGLER_COMMAND },
  })

// Each test goes on with what the one before it left.
describe('the build step of wrangler dev', { timeout: 600_000 }, () => {
  after(() => rmSync(root, { recursive: true, force: true }))

  test('a build for another command creates nothing', async () => {
    rmSync(secrets, { force: true })
    await build('deploy')
    assert.equal(existsSync(secrets), false)
  })

  test('creates the secrets that are missing or empty, and keeps the others', async () => {
    writeFileSync(secrets, `# mine\nSIGNING_KEYS='{"keys":[]}'\nADMIN_KEY='${OWN_KEY}'\n`, {
      mode: 0o600,
    })
    await build('dev')
    const text = readFileSync(secrets, 'utf8')
    const { SIGNING_KEYS = '', TRACKING_KEYS = '', ADMIN_KEY } = parseEnv(text)
    assert.equal(JSON.parse(SIGNING_KEYS).keys.length, 1)
    assert.equal(JSON.parse(TRACKING_KEYS).keys.length, 1)
    assert.equal(ADMIN_KEY, OWN_KEY)
    assert.ok(text.startsWith('# mine\n'))
    assert.equal(statSync(secrets).mode & 0o777, 0o600)
  })

  test('reports a migration that fails', async () => {
    const path = join(root, 'migrations/9999_fails.sql')
    writeFileSync(path, 'creat table fails (id text primary key) strict;')
    const { stderr } = await build('dev')
    assert.match(stderr, /^9999_fails\.sql failed: near "creat"/m)
    rmSync(path)
  })

  test('refuses a local database of an older layout, with the command that starts anew', async () => {
    const stderr =
      'The local database has the layout of an older version, which this version cannot read. Start with an empty one: npm run dev -- --reset\n'
    const migration = join(root, 'migrations/0002_records.sql')
    const text = readFileSync(migration, 'utf8')
    writeFileSync(migration, text.replace('revision', 'version'))
    await assert.rejects(build('dev'), { code: 1, stderr })
  })
})
