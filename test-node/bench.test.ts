import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { KINDS } from '../src/fraud/kinds.ts'

// The bench runs. Its figures here mean nothing.

const folder = mkdtempSync(join(tmpdir(), 'tributary-bench-test-'))
// PostgreSQL does not run as root, and must reach its data.
chmodSync(folder, 0o755)
after(() => rmSync(folder, { recursive: true }))

const bench = (...args: string[]) =>
  spawnSync(process.execPath, ['--js-base-64', 'bench/bench.ts', ...args], {
    encoding: 'utf8',
    timeout: 600_000,
    env: { ...process.env, TMPDIR: folder },
  })

// Several sections in one run, since most of a short one is its start: those that call code of `src`.
let printed = ''
before(() => {
  const { status, stdout, stderr } = bench(
    ...['ingest', 'sizes', 'memory', 'commissions', 'fraud'],
    ...['--quick', '--facts', '1000'],
  )
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

/** Returns the cells of the row with a name. */
const cellsOf = (name: string) =>
  printed
    .split('\n')
    .find((line) => line.startsWith(name))
    ?.slice(name.length)
    .trim()
    .split(/\s+/)

test('a stored transaction writes its row and an index, a changed one its row, a repeated one none', () => {
  assert.deepEqual(cellsOf('rows written a record'), ['2.00', '1.00', '0.00'])
  // The statements that are the same for every table are known by name.
  assert.equal(cellsOf('D1: countWritten')?.length, 3)
})

test('maximal bodies take less memory than the platform grants', () => {
  for (const name of ['records as usual', 'long texts, all escaped', '240 unknown members each']) {
    const most = Number(cellsOf(name)?.at(-2))
    assert.ok(most > 0 && most < 128, `${name}: ${most} MiB`)
  }
})

test('a run writes the statement of each affiliate once, and nothing when it is repeated', () => {
  // After time, CPU and both ratios: steps and statements written.
  assert.deepEqual(cellsOf('first run')?.slice(4, 6), ['1', '10'])
  assert.deepEqual(cellsOf('again, nothing has changed')?.slice(4, 6), ['1', '0'])
})

test('an unknown section is refused before anything starts', () => {
  const { status, stderr } = bench('everything')
  assert.equal(status, 2)
  assert.match(stderr, /^Unknown section everything\. Use ingest,.+\n$/)
})

test('each kind of fraud rule is applied to planted fraud, and to an honest year', () => {
  for (const { kind } of KINDS) {
    const [weak, of, all] = cellsOf(kind) ?? []
    assert.match(weak ?? '', /^\d+$/, kind)
    assert.equal(of, 'of')
    assert.match(all ?? '', /^[1-4]$/, kind)
  }
})
