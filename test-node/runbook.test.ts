import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { MIGRATIONS } from '../chaos/workerd.ts'
import { needed } from '../examples/alarms/worker.ts'
import { BEGUN_ANEW, KEPT } from '../scripts/databases/kept.ts'
import { newKeySet, newTrackingKeys } from '../scripts/keys.ts'
import { has } from './service.ts'

// Checks what the runbook states about tables, keys and log lines. project.test.ts checks its commands.

const read = (path: string) => readFileSync(path, 'utf8')
const runbook = read('docs/runbook.md')

test('every SQL query and table of the runbook exists', () => {
  const database = new DatabaseSync(':memory:')
  for (const sql of MIGRATIONS) database.exec(sql)
  const queries = [...runbook.matchAll(/--command (['"])([\s\S]+?)\1/g)].map(
    ([, , sql = '']) => sql,
  )
  assert.ok(queries.length > 0)
  for (const sql of queries) database.prepare(sql).all()
})

test('a backup keeps every table that holds no records', () => {
  const records = ['customers', 'transactions', 'activity', 'events', 'clicks', 'totals', 'resets']
  records.push('changed', 'customer_affiliations', 'customer_fields')
  records.push('customer_owners')
  records.push('closed_states', 'once_facts', 'late_changes', 'fraud_revenue', ...BEGUN_ANEW)
  const logs = ['deliveries', 'arrivals', 'idempotency_keys']
  logs.push('statement_runs', 'statement_run_steps', 'book_resets')
  logs.push('webhook_events', 'webhook_messages', 'database_sizes')
  // The next export writes the files of months that differ.
  logs.push('exports', 'export_runs')
  const all = MIGRATIONS.flatMap((sql) => /^create table (\w+)/i.exec(sql)?.[1] ?? [])
  assert.deepEqual(
    all.filter((table) => !KEPT.includes(table)).sort(),
    [...records, ...logs].sort(),
  )
})

test('the service logs each line that the runbook explains', () => {
  const source = globSync('src/**/*.{ts,tsx}').map(read).join('\n')
  const section = runbook.split('## Log lines')[1]!.split('\n## ')[0]!
  const named = [...section.matchAll(/^\| (?:\*\*)?`(\w+)`/gm)].map(([, name]) => name!)
  assert.notEqual(named.length, 0)
  for (const name of named) assert.match(source, new RegExp(`\\b${name}\\b`))
})

test('the Tail Worker of the alarms posts each bold line of the runbook and each 500, and no other', () => {
  const section = runbook.split('## Log lines')[1]!.split('\n## ')[0]!
  const named = [...section.matchAll(/^\| (\*\*)?`(\w+)`/gm)]
  const rings = (text: string, outcome = 'ok') =>
    needed([{ scriptName: 'w', outcome, logs: [{ message: [text] }] }]).length === 1
  for (const [, bold, name] of named) {
    const lines = [JSON.stringify({ [name!]: 'x' }), JSON.stringify({ fault: name })]
    assert.deepEqual(
      lines.map((line) => rings(line)),
      [Boolean(bold), Boolean(bold)],
      name,
    )
  }
  const statuses = [200, 422, 500, 503].map((status) => rings(JSON.stringify({ status, ms: 500 })))
  assert.deepEqual(statuses, [false, false, true, false])
  assert.deepEqual(
    ['canceled', 'exceededMemory'].map((end) => rings('', end)),
    [false, true],
  )
})

/** Replaces wrangler by a function that writes each secret to a file, and the vault by two files. */
const ELSEWHERE = `
npm() { command npm --prefix "$REPOSITORY" "$@"; }
npx() { cat >> "$4"; }
pass() { if [ "$1" = show ]; then cat old.json; else cat > kept.json; fi; }
`
const SETS = [
  ['SIGNING_KEYS', newKeySet, 'RSA', ['old,new', 'new,old', 'new']],
  ['TRACKING_KEYS', newTrackingKeys, 'oct', ['old,new', 'new,old']],
] as const
const skip = has('bash') ? false : 'bash is not installed'
for (const [secret, made, kind, steps] of SETS) {
  test(`the runbook rotates ${secret}: a new key verifies before it signs`, { skip }, async () => {
    const blocks = [...runbook.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block)
    const [, joined = ''] = /^(joined\(\) .*)$/m.exec(runbook)!
    const block = blocks.find((one) => one.includes(`secret put ${secret}`))!
    const cwd = mkdtempSync(join(tmpdir(), 'keys-'))
    try {
      writeFileSync(join(cwd, 'old.json'), await made())
      const env = { ...process.env, REPOSITORY: process.cwd() }
      execFileSync('bash', ['-ec', `${ELSEWHERE}${joined}\n${block}`], { cwd, env })
      const kidsOf = (set: string): string[] =>
        JSON.parse(set).keys.map(({ kid, kty }: { kid: string; kty: string }) => {
          assert.equal(kty, kind)
          return kid
        })
      const [old, fresh] = ['old', 'kept'].map(
        (name) => kidsOf(read(join(cwd, `${name}.json`)))[0]!,
      )
      const put = read(join(cwd, secret)).trim().split('\n').map(kidsOf)
      const named = put.map((kids) => kids.map((kid) => (kid === old ? 'old' : 'new')).join())
      assert.notEqual(old, fresh)
      assert.deepEqual(named, steps)
    } finally {
      rmSync(cwd, { recursive: true })
    }
  })
}
