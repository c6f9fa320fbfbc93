import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { appendFileSync, globSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { bundleCommand } from './bundle.ts'
import { copyServed, has, serveIn } from './service.ts'

// The runbook's way to restore a database, as it stands there, on local databases.

const [, section = ''] = readFileSync('docs/runbook.md', 'utf8').split('\n## Restore\n')
const [, procedure = ''] = /```sh\n([\s\S]*?)```/.exec(section) ?? []
/** What is to run every night, so that a database can be made anew. */
const [nightly = ''] = procedure.split('# 2. Restore')
const [, lost = ''] = section.split('\n### A database is lost\n')
const afterLoss = [...lost.matchAll(/```sh\n([\s\S]*?)```/g)][1]?.[1] ?? ''

/**
 * Runs the commands on the local databases; the variable GO_BACK stands in for Time Travel, and
 * STAND_IN for the commands of wrangler that STANDS_IN_FOR matches.
 */
const STAND_INS = `
unset TRIBUTARY_BASE_URL TRIBUTARY_ADMIN_KEY
npx() {
  case "$3 $4" in
    'time-travel info') return ;;
    'object get') return ;;
    'create tributary-production-2') "$NODE" --no-warnings -e "$GO_BACK"; return ;;
    'time-travel restore') "$NODE" --no-warnings -e "$GO_BACK"; return ;;
  esac
  if [[ "$*" =~ $STANDS_IN_FOR ]]; then "$NODE" --no-warnings -e "$STAND_IN" -- "\${@:3}"; return; fi
  local words=()
  for word in "\${@:2}"; do case $word in
    --env | production) ;; --remote) words+=(--local) ;; *) words+=("$word") ;;
  esac; done
  unlocked node_modules/.bin/wrangler "\${words[@]}"
}
unlocked() {
  # The running service holds a lock while it opens or closes a database file; D1 has no such lock.
  for attempt in 1 2 3 4 5; do
    if CI=1 WRANGLER_SEND_METRICS=false "$@" 2>wrangler.err; then return; fi
    if ! grep -q SQLITE_BUSY wrangler.err; then break; fi
    sleep 1
  done
  cat wrangler.err >&2
  return 1
}
npm() {
  case "$2" in
    deploy) return ;;
    backup) unlocked "$NODE" --no-warnings scripts/backup.ts --local "\${@:6}"
      rm -rf backup/production && mv backup/local backup/production; return ;;
  esac
  [ "$1 $2 $3" = 'run admin --' ]
  "$NODE" admin.mjs "\${@:4}"
}
`

/**
 * Returns a program that does what `wrangler d1` does with a local database, in a tenth of the time.
 * Throws for another binding.
 */
const standInFor = (binding: string, file: string) => `
  const { parseArgs } = require('node:util')
  const { readdirSync, readFileSync } = require('node:fs')
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      env: { type: 'string' }, remote: { type: 'boolean' }, file: { type: 'string' },
    },
  })
  if (positionals.pop() !== ${JSON.stringify(binding)}) throw new Error('another database')
  const database = new (require('node:sqlite').DatabaseSync)(${JSON.stringify(file)}, { timeout: 10_000 })
  const commands = {
    'migrations apply': () => {
      database.exec('create table if not exists d1_migrations (name text)')
      const known = database.prepare('select name from d1_migrations').all()
      for (const file of readdirSync('migrations').sort())
        if (!known.some(({ name }) => name === file))
          database.exec(readFileSync('migrations/' + file, 'utf8'))
    },
    execute: () => database.exec(
      'PRAGMA foreign_keys = on; BEGIN; PRAGMA defer_foreign_keys = on;' +
        readFileSync(values.file, 'utf8') + 'COMMIT;',
    ),
  }
  commands[positionals.join(' ')]()`

const AT = '2026-10-01T00:00:00Z'
const BECAME = { signup_date: AT, last_modified_date: AT }
const EVE = { ...BECAME, affiliate_id: 'IB-07', tracking_data: 'x', email: 'eve@person.example' }

interface Audited {
  action: string
}

/** A second database, added as in the runbook. */
const SECOND_DATABASE = `
[[d1_databases]]
binding = "DB_2"
database_name = "tributary-2"
database_id = "00000000-0000-0000-0000-000000000002"
migrations_dir = "migrations"
`

/** Drops older rates, which the demo's statements do not need: wrangler takes 2 ms to load one. */
function keepRatesOfMarch(root: string) {
  for (const file of globSync(join(root, '.wrangler/state/v3/d1/miniflare-*/*.sqlite'))) {
    if (file.includes('metadata')) continue
    const database = new DatabaseSync(file)
    const first = Date.UTC(2026, 2) / 86_400_000
    database.exec(`delete from fx_rates where day < ${first}`)
    database.close()
  }
}

const skip = has('bash') ? false : 'bash is not installed'
describe('a database is restored by the runbook', { skip, timeout: 600_000 }, () => {
  const root = copyServed()
  appendFileSync(join(root, 'wrangler.toml'), SECOND_DATABASE)
  keepRatesOfMarch(root)
  let service: Awaited<ReturnType<typeof serveIn>>
  before(async () => {
    await bundleCommand('admin', root)
    service = await serveIn(root)
  })
  after(async () => {
    await service?.end('SIGTERM')
    rmSync(root, { recursive: true, force: true })
  })

  const ask = (path: string, method: string, headers: Record<string, string>, body?: unknown) =>
    fetch(`${service.demo.base_url}${path}`, {
      method,
      headers: { 'Content-Type': 'application/json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  // biome-ignore lint/suspicious/noExplicitAny: tests compare it whole
  async function team(method: string, path: string, body?: unknown): Promise<any> {
    const headers = { Authorization: `Bearer ${service.demo.admin_key}` }
    const response = await ask(`/admin/v1/${path}`, method, headers, body)
    const text = await response.text()
    assert.ok(response.ok, `${method} ${path}: ${text}`)
    return text && JSON.parse(text)
  }

  const tokenOf = (client_id: string, client_secret: string) => {
    const form = { grant_type: 'client_credentials', client_id, client_secret }
    const init = { method: 'POST', body: new URLSearchParams(form) }
    return fetch(`${service.demo.base_url}/oauth/token`, init)
  }
  /** Lists the customers of the forex account, or sends one. */
  async function customers(client_id: string, client_secret: string, sent?: object) {
    const token = await (await tokenOf(client_id, client_secret)).json()
    const headers = { Authorization: `Bearer ${(token as { access_token: string }).access_token}` }
    const response = await ask('/api/v1/forex/customers', sent ? 'POST' : 'GET', headers, sent)
    assert.ok(response.ok)
    return ((await response.json()) as { data: { customer_id: string; email?: string }[] }).data
  }
  const isAlive = async (token: string) =>
    (await ask('/tracking/events/account', 'GET', { 'x-api-key': token })).status

  /** Returns the whole configuration, as /admin/v1 shows it. */
  async function configuration() {
    const { data: accounts } = await team('GET', 'accounts?per_page=500')
    const own = accounts.flatMap(({ account, vertical }: { account: string; vertical: string }) =>
      [
        'affiliates',
        'erasures',
        'links',
        'status-map',
        ...(vertical === 'igaming' ? ['brand-tokens', 'events'] : ['clients']),
      ].map((noun) => `accounts/${account}/${noun}`),
    )
    const seen = await Promise.all(own.map(async (path: string) => [path, await team('GET', path)]))
    const rates = await team('GET', 'fx-rates?day=2026-03-18')
    return { accounts, rates, ...Object.fromEntries(seen) }
  }
  const auditLog = async () => (await team('GET', 'audit-log?per_page=500')).data

  /** Returns the file of a database; only `DB` has accounts. */
  const fileOf = (binding: string) =>
    globSync(join(root, '.wrangler/state/v3/d1/*/*.sqlite')).find((path) => {
      const database = new DatabaseSync(path, { readOnly: true, timeout: 10_000 })
      try {
        const counted = database.prepare('select count(*) as n from accounts').get()
        return Number(counted?.n) > 0 === (binding === 'DB')
      } catch {
        return false // The file belongs to another binding.
      } finally {
        database.close()
      }
    })!

  /** Runs commands of the runbook on a database. */
  const runCommands = (commands: string, GO_BACK: string, STAND_IN: string, stands: string) => {
    const env = { ...process.env, GO_BACK, STAND_IN, STANDS_IN_FOR: stands, NODE: process.execPath }
    return promisify(execFile)('bash', ['-ec', STAND_INS + commands], { cwd: root, env })
  }

  /**
   * Copies the database. Returns a function that runs the procedure, which restores the copy. It runs wrangler
   * for exports and for what loads the file; its stand-in finds that all migrations are recorded.
   */
  async function copyOfDatabase() {
    const live = fileOf('DB')
    const copy = join(root, 'copy')
    const database = new DatabaseSync(live, { readOnly: true })
    await backup(database, copy)
    database.close()
    const goBack = `const { backup, DatabaseSync } = require('node:sqlite')
      backup(new DatabaseSync(${JSON.stringify(copy)}), ${JSON.stringify(live)})`
    const commands = procedure.replace('ACCOUNT', 'demo-forex')
    return () => runCommands(commands, goBack, standInFor('DB', live), 'migrations')
  }

  /** Returns the books of the forex account, as /admin/v1 shows them. */
  const books = () =>
    Promise.all(
      [
        'statements',
        'payouts',
        'payouts',
        'manual-entries',
        'ledger?affiliate_id=IB-07',
        'affiliates/figures?affiliate_id=IB-08',
      ].map((path) => team('GET', `accounts/demo-forex/${path}`)),
    )

  /** Closes the month of the demo, pays a statement and enters an amount. */
  async function closeBooks() {
    const at = 'accounts/demo-forex'
    const approved = await team('POST', `${at}/periods/2026-03/approve`, { leave_out_holds: true })
    assert.deepEqual([approved.approved, approved.closed], [3, true])
    const asked = {
      ...{ method: 'manual', execute_on: new Date().toISOString().slice(0, 10) },
      rows: [{ id: 'IB-07:EUR', reason: 'In cash' }],
    }
    const { id, hash, total } = await team('POST', `${at}/batches`, asked)
    await team('POST', `${at}/batches/${id}/confirm`, { hash, total })
    const pay = () => team('POST', `${at}/batches/${id}/pay`, { paid_on: '2026-04-15' })
    await team('POST', `${at}/manual-entries`, {
      affiliate_id: 'IB-07',
      plan: 'demo-ib',
      amount: '5.00',
      reason: `it's; -- "late"`,
      reference: 'M-1',
    })
    return { pay, paid: await pay() }
  }

  test('ended credentials stay ended, settings are restored, and erased customers stay erased', async () => {
    const brand_token = service.demo.accounts[2]!.brand_token
    const { client_id, client_secret: first } = service.demo.accounts[1]!
    const of = (path: string) => `accounts/demo-forex/${path}`
    const rotate = async (overlap: string) =>
      (await team('POST', of(`clients/${client_id}/rotate`), { overlap })).client_secret
    const second = await rotate('24h')
    await team('PUT', 'accounts/demo-brand/events/Dropped', { granularity: 'event' })
    await team('PUT', of('status-map'), { done: 'approved', gone: 'declined' })
    await team('PUT', of('affiliates'), [{ affiliate_id: 'MOVED' }])
    await customers(client_id, second, { ...EVE, customer_id: 'C-1' })
    assert.equal((await customers(client_id, second))[0]!.email, EVE.email)
    const back = await copyOfDatabase()

    const third = await rotate('none')
    await team('DELETE', 'accounts/demo-brand/events/Dropped')
    await team('PUT', of('status-map'), { done: 'reversed' })
    await team('PUT', of('affiliates'), [{ affiliate_id: 'MOVED', parent: 'IB-07' }])
    const { brand_token: newer } = await team('POST', 'accounts/demo-brand/brand-tokens', {
      overlap: 'none',
    })
    const name = `O'Neil; -- "late"`
    await team('POST', 'accounts', { account: 'late', name, vertical: 'forex', mode: 'test' })
    const late = await team('POST', 'accounts/late/clients', {})
    await customers(client_id, third, { ...EVE, customer_id: 'C-2' })
    await team('DELETE', of('customers/C-1/personal-data'))
    const { pay, paid } = await closeBooks()
    const [before, log, closed] = [await configuration(), await auditLog(), await books()]

    await back()

    assert.deepEqual(await configuration(), before)
    const lines = await auditLog()
    const replayed = lines.slice(0, lines.length - log.length)
    assert.deepEqual(lines.slice(replayed.length), log)
    assert.deepEqual(
      replayed.map(({ action }: Audited) => action),
      ['erasures.replay'],
    )
    assert.deepEqual(await books(), closed)
    assert.deepEqual(await pay(), paid)
    const secrets = [first, second, third].map((secret) => tokenOf(client_id, secret))
    assert.deepEqual(
      (await Promise.all(secrets)).map(({ status }) => status),
      [401, 401, 200],
    )
    assert.equal((await tokenOf(late.client_id, late.client_secret)).status, 200)
    assert.deepEqual([await isAlive(brand_token), await isAlive(newer)], [401, 200])

    const data = await customers(client_id, third)
    const ofDemo = /^C-33/
    assert.deepEqual(
      data
        .filter(({ customer_id }) => !ofDemo.test(customer_id))
        .map(({ customer_id, email }) => [customer_id, email]),
      [['C-1', undefined]],
    )
  })

  test('a second database that was deleted is made anew with the files of the night', async () => {
    const account = 'lost'
    const made = { account, name: 'Lost', vertical: 'forex', mode: 'test', binding: 'DB_2' }
    await team('POST', 'accounts', made)
    await team('PUT', `accounts/${account}/affiliates`, [
      { affiliate_id: 'A', parent: 'B' },
      { affiliate_id: 'B' },
    ])
    const client = await team('POST', `accounts/${account}/clients`, {})
    const sent = { ...EVE, affiliate_id: 'A' }
    await customers(client.client_id, client.client_secret, { ...sent, customer_id: 'C-1' })
    const [before, live] = [await configuration(), fileOf('DB_2')]
    // A new database has only the table of workerd.
    const goBack = `const { DatabaseSync } = require('node:sqlite')
      const database = new DatabaseSync(${JSON.stringify(live)}, { timeout: 10_000 })
      database.exec('pragma foreign_keys = off')
      const ours = "select type, name from sqlite_schema where type in ('view', 'table') and name not glob"
      for (const { type, name } of database.prepare(ours + " '_cf_*' and name not glob 'sqlite_*'").all())
        database.exec('drop ' + type + ' ' + name)`
    const run = (commands: string) => runCommands(commands, goBack, standInFor('DB_2', live), '.')
    await run(nightly.replace('db=DB\n', 'db=DB_2\n'))
    // Erased after that night: the journal has it.
    await team('DELETE', `accounts/${account}/customers/C-1/personal-data`)
    const { stdout } = await run(afterLoss)
    assert.match(stdout, /lost/)

    const now = new Map<string, { data?: unknown[] }>(Object.entries(await configuration()))
    const erasures = `accounts/${account}/erasures`
    assert.equal(now.get(erasures)?.data?.length, 1)
    assert.deepEqual(
      { ...Object.fromEntries(now), [erasures]: null },
      { ...before, [erasures]: null },
    )
    assert.deepEqual(await customers(client.client_id, client.client_secret), [])
    await customers(client.client_id, client.client_secret, { ...sent, customer_id: 'C-2' })
    assert.equal((await customers(client.client_id, client.client_secret)).length, 1)
  })
})
