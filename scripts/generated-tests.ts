import { spawnSync } from 'node:child_process'
import { HOUR_MS } from '../src/durations.ts'
import { readOptions, wholeNumber } from './command-line.ts'

/** The generated tests that one npm script runs at length. */
interface GeneratedTests {
  invocation: string
  description: string
  /** Select the test files by a part of their path. */
  files: string[]
  /** The environment variable that holds the number of runs. */
  runsVariable: string
  /** The number of runs without `--runs`. */
  usualRuns: number
}

/**
 * Reads `--runs` and `--seed`, runs the generated tests with another seed each time, and sets the
 * exit code. `npm test` runs the same files with few runs and a fixed seed.
 */
export function runGeneratedTests(tests: GeneratedTests) {
  const { runs = tests.usualRuns, seed = Date.now() % 2 ** 31 } = readOptions<{
    runs?: number
    seed?: number
  }>(tests.invocation, tests.description, (command) =>
    command
      .option('--runs <count>', 'how many random inputs each test gets', wholeNumber(1, 1e9))
      .option(
        '--seed <number>',
        'repeats the inputs of a run; random if absent',
        wholeNumber(-(2 ** 31), 2 ** 31),
      ),
  )
  const vitest = ['run', `--testTimeout=${HOUR_MS}`, ...tests.files]
  const { status } = spawnSync('node_modules/.bin/vitest', vitest, {
    stdio: 'inherit',
    env: { ...process.env, [tests.runsVariable]: String(runs), TEST_SEED: String(seed) },
  })
  process.exitCode = status ?? 1
}
