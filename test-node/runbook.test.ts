import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { MIGRATIONS } from '../bench/schema.ts'

// What the runbook says of tables and of the log is true of them; its commands are in project.test.ts.

const read = (path: string) => readFileSync(path, 'utf8')
const runbook = read('docs/runbook.md')

test('the runbook asks the databases what they can answer', () => {
  const database = new DatabaseSync(':memory:')
  for (const sql of MIGRATIONS) database.exec(sql)
  const asked = [...runbook.matchAll(/--command '([^']+)'/g)].map(([, sql = '']) => sql)
  assert.ok(asked.length > 0)
  for (const sql of asked) database.prepare(sql).all()
  const tables = [...runbook.matchAll(/--table (\w+)/g)].map(([, table = '']) => table)
  assert.ok(tables.length > 0)
  for (const table of tables) database.prepare(`select * from ${table}`).all()
})

test('the runbook keeps, over a restore, every table that has no records in it', () => {
  const kept = new Set([...runbook.matchAll(/--table (\w+)/g)].map(([, table]) => table))
  const records = ['customers', 'transactions', 'activity', 'events', 'clicks', 'totals']
  const logs = ['deliveries', 'arrivals', 'idempotency_keys']
  const all = MIGRATIONS.flatMap((sql) => /^create table (\w+)/i.exec(sql)?.[1] ?? [])
  assert.deepEqual(all.filter((table) => !kept.has(table)).sort(), [...records, ...logs].sort())
})

test('the runbook explains each line of the log by the members that it has', () => {
  const said = globSync('src/**/*.ts').flatMap((path) =>
    [...read(path).matchAll(/console\.\w+\(\s*JSON\.stringify\(\{([\s\S]*?)\}\),?\s*\)/g)].map(
      ([, members = '']) =>
        [...members.matchAll(/(?:^|[{,])\s*(\w+)(?=[:,\s])/g)].map(([, name]) => name),
    ),
  )
  const section = runbook.split('## What the log says')[1]!.split('\n## ')[0]!
  const rows = section.split('\n').filter((line) => line.startsWith('| `'))
  const told = rows.map((row) =>
    [...row.split(' | ')[0]!.matchAll(/`(\w+)`/g)].map(([, name]) => name),
  )
  const sorted = (lines: (string | undefined)[][]) =>
    lines.map((line) => line.toSorted().join()).sort()
  assert.deepEqual(sorted(told), sorted(said))
})
