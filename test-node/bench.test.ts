import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'

// The bench runs. Its figures here mean nothing.

const folder = mkdtempSync(join(tmpdir(), 'tributary-bench-test-'))
// PostgreSQL does not run as root, and must reach its data.
chmodSync(folder, 0o755)
after(() => rmSync(folder, { recursive: true }))

const bench = (...args: string[]) =>
  spawnSync(process.execPath, ['bench/bench.ts', ...args], {
    encoding: 'utf8',
    timeout: 240_000,
    env: { ...process.env, TMPDIR: folder },
  })

// Two sections in one run, since most of a short one is its start.
let printed = ''
before(() => {
  const { status, stdout, stderr } = bench('sizes', 'commissions', '--quick', '--facts', '1000')
  assert.equal(status, 0, stderr)
  printed = stripVTControlCharacters(stdout)
})

test('a section prints the ratio of ours to each peer, and removes its temporary files', () => {
  const peers = ['bare platform', 'Hono + Zod + Drizzle', 'Fastify + node:sqlite']
  if (!printed.includes('PostgreSQL is not installed: skipped')) peers.push('Fastify + PostgreSQL')
  for (const peer of peers)
    for (const phase of ['insert', 'update', 'replay']) {
      const line = printed.split('\n').find((line) => line.startsWith(`ours ÷ ${peer}, ${phase}`))
      assert.match(line ?? '', /(\s+\d+\.\d\d){4}$/, `${peer}, ${phase}`)
    }
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith('tributary-')),
    [],
  )
})

test('a run writes the statement of each affiliate once, and nothing when it is repeated', () => {
  const cellsOf = (name: string) =>
    printed
      .split('\n')
      .find((line) => line.startsWith(name))
      ?.slice(name.length)
      .trim()
      .split(/\s+/)
  // After time, CPU and both ratios: steps and statements written.
  assert.deepEqual(cellsOf('first run')?.slice(4, 6), ['1', '10'])
  assert.deepEqual(cellsOf('again, nothing has changed')?.slice(4, 6), ['1', '0'])
})

test('an unknown section is refused before anything starts', () => {
  const { status, stderr } = bench('everything')
  assert.equal(status, 2)
  assert.match(stderr, /^Unknown section everything\. Use ingest,.+\n$/)
})
