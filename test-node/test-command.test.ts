import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { closingLine, countTests, skippedLines } from '../scripts/test/counts.ts'
import { isNamed, TEST_FILES, TEST_GROUPS } from '../scripts/test/groups.ts'

const folder = mkdtempSync(join(tmpdir(), 'tributary-counts-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const ALL = [...TEST_FILES.vitest, ...TEST_FILES.node]

describe('npm test -- NAME', () => {
  test('every folder of src is a group', () => {
    const folders = readdirSync('src', { withFileTypes: true }).filter((one) => one.isDirectory())
    const missing = folders.map(({ name }) => name).filter((name) => !(name in TEST_GROUPS))
    assert.deepEqual(missing, [])
  })

  test('every entry of a group is the beginning of a test file', () => {
    const unknown = Object.entries(TEST_GROUPS).flatMap(([group, starts]) =>
      starts
        .filter((start) => !ALL.some((file) => file.split('/').at(-1)!.startsWith(start)))
        .map((start) => `${group}: ${start}`),
    )
    assert.deepEqual(unknown, [])
  })

  test('every test file is in a group, and those in test/commission are in that of the folder', () => {
    const groups = Object.keys(TEST_GROUPS)
    const outside = ALL.filter((file) => !groups.some((group) => isNamed(file, group)))
    assert.deepEqual(outside, [])
    const commission = ALL.filter((file) => file.startsWith('test/commission/'))
    assert.ok(commission.length > 50)
    assert.deepEqual(
      commission.filter((file) => !isNamed(file, 'commission')),
      [],
    )
  })

  test('a name is a group, a path, or a part of the name of a file', () => {
    const named = (name: string) => ALL.filter((file) => isNamed(file, name))
    assert.ok(named('auth').includes('test/oauth.test.ts'))
    assert.ok(named('auth').includes('test-node/secrecy.test.ts'))
    assert.ok(!named('auth').includes('test/links.test.ts'))
    assert.deepEqual(named('test/rate.test.ts'), ['test/rate.test.ts'])
    assert.deepEqual(named('idempot'), ['test/idempotency.test.ts'])
    assert.deepEqual(named('nothing'), [])
  })

  test('an unknown name is refused, and --help lists the groups', () => {
    const run = (...args: string[]) =>
      spawnSync(process.execPath, ['scripts/test.ts', ...args], { encoding: 'utf8' })
    const refused = run('nothing')
    assert.equal(refused.status, 2)
    assert.match(refused.stderr, /^No group or test file is called `nothing`\. Groups: .*auth.*\n$/)
    const help = run('--help')
    assert.equal(help.status, 0)
    assert.match(help.stdout, /^Groups: .*auth/m)
  })
})

describe('the closing line', () => {
  /** Runs a test file under `node --test` with our reporter, and counts its tests. */
  function count(source: string) {
    const [file, report] = [join(folder, 'some.test.mjs'), join(folder, 'report')]
    writeFileSync(file, `import { describe, test } from 'node:test'\n${source}`)
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    const { status } = spawnSync(
      process.execPath,
      [
        '--test',
        '--test-reporter=./scripts/test/node-reporter.ts',
        `--test-reporter-destination=${report}`,
        file,
      ],
      { env },
    )
    return countTests(report, status ?? 1)
  }

  test('counts tests, not the groups around them', () => {
    const counts = count(`
      describe('a group', () => { test('one', () => {}); test('two', () => { throw new Error() }) })
      test('three', () => {})
    `)
    assert.equal(closingLine(counts), '2 passed, 1 failed')
  })

  test('counts what is skipped, and names it under its reason', () => {
    const counts = count(`
      test('one', { skip: 'there is no php' }, () => {})
      describe('a group', { skip: 'there is no php' }, () => { test('two', () => {}) })
      test('three', { todo: true }, () => {})
    `)
    assert.equal(closingLine(counts), '0 passed, 0 failed, 3 skipped')
    const lines = skippedLines(counts.skipped)
    assert.equal(lines[0], 'Skipped, there is no php:')
    assert.match(lines[1]!, /some\.test\.mjs: one$/)
    assert.equal(lines.length, 5)
  })

  test('counts a file that fails as a whole, and a runner that ends early, as one failure', () => {
    assert.equal(closingLine(count('throw new Error()')), '0 passed, 1 failed')
    assert.equal(closingLine(countTests(join(folder, 'absent'), 1)), '0 passed, 1 failed')
  })
})
