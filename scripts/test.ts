import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { exitWithUsageError, parseCommand } from './command-line.ts'
import './site.ts'
import type { Ended } from './test/node-reporter.ts'

const DESCRIPTION = `Runs all tests, or those whose path has one of the names in it.

Files in test/ run inside the Workers runtime, files in test-node/ on Node. The last line has the
counts of both: \`N passed, N failed\`, and \`, N skipped\` if any test was skipped. If CI is set, a
skipped test fails the run. TEST_SEED=N changes the generated input; without it the seed is 3.
TEST_DAY=N repeats what was drawn on another day: a run prints the number.`

const TEST_FILES = {
  vitest: globSync('test/**/*.test.ts').sort(),
  node: globSync('test-node/*.test.ts').sort(),
}

const names = parseCommand('npm test', DESCRIPTION, (command) =>
  command.argument('[name...]', 'a folder, a test file, or a part of its path'),
).args
for (const name of names) {
  const isKnown = [...TEST_FILES.vitest, ...TEST_FILES.node].some((file) => file.includes(name))
  if (!isKnown) exitWithUsageError(`No test file has \`${name}\` in its path.`)
}
const chosen = (files: string[]) =>
  names.length === 0 ? files : files.filter((file) => names.some((name) => file.includes(name)))

/** Tests start our programs and wrangler some 200 times. With this cache each start takes a fifth less time. */
const COMPILE_CACHE = resolve('node_modules/.cache/tributary-test')

const folder = mkdtempSync(join(tmpdir(), 'tributary-test-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

/** The number of Node test files at a time. On two cores both runners then end at about the same time. */
const CONCURRENCY = Math.max(1, availableParallelism() - 1)

/**
 * When a runner is ended, in milliseconds, and fails: a file whose setup fails may leave a program running, and
 * wait for it. `--test-force-exit` would end a file before all its results are written.
 */
const LONGEST_MS = 25 * 60_000

interface Runner {
  name: string
  files: string[]
  program: string
  args: (report: string) => string[]
  /** Prints what the runner prints: at once, or when the other runner has ended. */
  print: 'at once' | 'later'
}

/** The number of tests that passed and failed, and those that were skipped. */
interface Counts {
  passed: number
  failed: number
  skipped: Ended[]
}

/** Counts the lines of a report. A runner that failed without a failed test counts as one failure. */
function countTests(report: string, status: number): Counts {
  const lines = existsSync(report) ? readFileSync(report, 'utf8').split('\n').filter(Boolean) : []
  const ended = lines.map((line): Ended => JSON.parse(line))
  const failed = ended.filter(({ state }) => state === 'failed').length
  return {
    passed: ended.filter(({ state }) => state === 'passed').length,
    failed: failed || Number(status !== 0),
    skipped: ended.filter(({ state }) => state === 'skipped'),
  }
}

/** Runs one runner over its files. Returns the counts of its tests, and its output if not printed. */
async function run({ name, files, program, args, print }: Runner) {
  if (files.length === 0) return { passed: 0, failed: 0, skipped: [], output: '' }
  const report = join(folder, name)
  const child = spawn(program, args(report), {
    timeout: LONGEST_MS,
    stdio: ['ignore', print === 'later' ? 'pipe' : 'inherit', 'inherit'],
    env: { NODE_COMPILE_CACHE: COMPILE_CACHE, ...process.env, TEST_REPORT: report },
  })
  const [output, [status]] = await Promise.all([
    child.stdout ? text(child.stdout) : '',
    once(child, 'close'),
  ])
  return { ...countTests(report, status ?? 1), output }
}

const vitestFiles = chosen(TEST_FILES.vitest)
const isWhole = vitestFiles.length === TEST_FILES.vitest.length
const nodeFiles = chosen(TEST_FILES.node)
// Both run at the same time: each waits for timers and other processes much of the time.
const both = await Promise.all([
  run({
    name: 'vitest',
    files: vitestFiles,
    program: 'node_modules/.bin/vitest',
    args: () => ['run', ...(isWhole ? [] : vitestFiles)],
    print: 'at once',
  }),
  run({
    name: 'node',
    files: nodeFiles,
    program: process.execPath,
    args: (report) => [
      '--test',
      `--test-concurrency=${CONCURRENCY}`,
      '--test-global-setup=test-node/setup.ts',
      '--test-reporter=spec',
      '--test-reporter-destination=stdout',
      '--test-reporter=./scripts/test/node-reporter.ts',
      `--test-reporter-destination=${report}`,
      ...nodeFiles,
    ],
    print: vitestFiles.length === 0 ? 'at once' : 'later',
  }),
])
for (const { output } of both) process.stdout.write(output)

const passed = both.reduce((sum, one) => sum + one.passed, 0)
const failed = both.reduce((sum, one) => sum + one.failed, 0)
const skipped = both.flatMap((one) => one.skipped)
for (const { test, reason } of skipped) {
  console.log(`Skipped, ${reason ?? 'no reason given'}: ${test}`)
}
const isIncomplete = Boolean(process.env.CI) && skipped.length > 0
if (isIncomplete) console.log('CI is set, so a skipped test fails the run.')
console.log(
  `${passed} passed, ${failed} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ''}`,
)
process.exitCode = failed > 0 || isIncomplete ? 1 : 0
