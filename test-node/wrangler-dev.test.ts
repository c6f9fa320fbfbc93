import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseEnv, promisify } from 'node:util'
import { copyRepository, copyServed, freePort } from './service.ts'

// Plain `wrangler dev` in a fresh clone, at a port that wrangler.toml does not name.

const root = copyRepository()
/** A value of the developer's own, which must survive. */
const OWN_KEY = 'a-key-that-a-developer-chose-before-the-start'

describe('npx wrangler dev', { timeout: 600_000 }, () => {
  let base: string
  let port: number
  let wrangler: ChildProcess
  before(async () => {
    writeFileSync(
      join(root, '.dev.vars'),
      `# mine\nSIGNING_KEYS='{"keys":[]}'\nADMIN_KEY='${OWN_KEY}'\n`,
      { mode: 0o600 },
    )
    port = await freePort()
    base = `http://127.0.0.1:${port}`
    wrangler = spawn('npx', ['wrangler', 'dev', '--port', String(port)], {
      cwd: root,
      env: { ...process.env, CI: '1', WRANGLER_SEND_METRICS: 'false' },
      stdio: 'ignore',
      detached: true,
    })
    for (let i = 0; i < 900 && wrangler.exitCode === null; i++) {
      if ((await fetch(`${base}/healthz`).catch(() => null))?.ok) return
      await sleep(100)
    }
    assert.fail('The service does not answer.')
  })
  after(async () => {
    const ended = new Promise((done) => wrangler.on('exit', done))
    if (wrangler.exitCode === null) process.kill(-wrangler.pid!, 'SIGTERM')
    await ended
    rmSync(root, { recursive: true, force: true })
  })

  test('creates the secrets that are missing or empty, and keeps the others', () => {
    const text = readFileSync(join(root, '.dev.vars'), 'utf8')
    const { SIGNING_KEYS = '', TRACKING_KEYS = '', ADMIN_KEY } = parseEnv(text)
    assert.equal(JSON.parse(SIGNING_KEYS).keys.length, 1)
    assert.equal(JSON.parse(TRACKING_KEYS).keys.length, 1)
    assert.equal(ADMIN_KEY, OWN_KEY)
    assert.ok(text.startsWith('# mine\n'))
    assert.equal(statSync(join(root, '.dev.vars')).mode & 0o777, 0o600)
  })

  test('answers requests from its migrated database', async () => {
    const headers = { Authorization: `Bearer ${OWN_KEY}` }
    const response = await fetch(`${base}/admin/v1/accounts`, { headers })
    assert.equal(response.status, 200)
    assert.equal(((await response.json()) as { meta: { total: number } }).meta.total, 0)
  })

  test('a build for another command creates nothing', async () => {
    const secrets = join(root, '.dev.vars')
    rmSync(secrets)
    await promisify(execFile)(process.execPath, ['scripts/build.ts'], {
      cwd: root,
      env: { ...process.env, WRANGLER_COMMAND: 'deploy' },
    })
    assert.equal(existsSync(secrets), false)
  })
})

describe('a local database of an older layout is refused, with the command that starts anew', () => {
  const REFUSED =
    'The local database has the layout of an older version, which this version cannot read. Start with an empty one: npm run dev -- --reset'
  const isRefused = { code: 1, stderr: `${REFUSED}\n` }
  const old = copyServed()
  const start = (script: string) =>
    promisify(execFile)(process.execPath, [script], {
      cwd: old,
      env: { ...process.env, WRANGLER_COMMAND: 'dev', PORT: String(startPort) },
    })
  const migration = join(old, 'migrations/0002_records.sql')
  let startPort: number
  before(async () => {
    startPort = await freePort()
    await start('scripts/build.ts') // Without the databases of setup.ts it creates them.
  })
  after(() => rmSync(old, { recursive: true, force: true }))

  test('if an applied migration has another text', async () => {
    const text = readFileSync(migration, 'utf8')
    writeFileSync(migration, text.replace('revision', 'version'))
    await assert.rejects(start('scripts/build.ts'), isRefused)
    await assert.rejects(start('scripts/dev.ts'), isRefused)
  })
})
