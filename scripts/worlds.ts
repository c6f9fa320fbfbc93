import { spawnSync } from 'node:child_process'
import { Argument } from 'commander'
import { HOUR_MS } from '../src/platform/durations.ts'
import { parseCommand, wholeNumber } from './command-line.ts'

/** The tests with generated input that run at length: their files, and the variable that has the number of runs. */
const KINDS = {
  /** The engine, its books and reports against a second, simpler implementation of each. */
  worlds: {
    variable: 'MODEL_RUNS',
    runs: 20_000,
    files: ['test/commission/worlds', 'test/commission/laws', 'test/books/books-model'].concat([
      'test/commission/explain.test',
      'test/commission/unearned.test',
      'test/reports/worlds',
      'test/fraud/worlds',
    ]),
  },
  /** Sequences of requests against a model of the contract, and stored results against those in memory. */
  model: {
    variable: 'MODEL_RUNS',
    runs: 250,
    files: ['test/ingest/model', 'test/commission/stored-', 'test/commission/closed-states'].concat(
      [
        'test/commission/simulation-laws',
        'test/commission/corrected-early',
        'test/books/stored-',
        'test/books/book-faults',
        'test/fraud/evaluated-worlds',
        'test/fraud/evaluate.test',
        'test/payouts/',
      ],
    ),
  },
  /** Hostile tokens, bodies, queries and headers, time zones, rate limits, faults of crons, cut requests and moves. */
  fuzz: {
    variable: 'FUZZ_RUNS',
    runs: 10_000,
    files: ['fuzz-', 'platform/zones', 'platform/rate.', 'accounts/background'].concat([
      'platform/disconnect',
      'accounts/move',
    ]),
  },
} as const
type Kind = keyof typeof KINDS

const command = parseCommand(
  'npm run worlds',
  'Runs the tests with random input at length, each time with another seed. A failure prints how to repeat it.',
  (own) =>
    own
      .addArgument(new Argument('[kind...]', 'all if absent').choices(Object.keys(KINDS)))
      .option('--runs <count>', 'how many random inputs each test gets', wholeNumber(1, 1e9))
      .option('--seed <number>', 'repeats a run', wholeNumber(-(2 ** 31), 2 ** 31)),
)
const { runs, seed = Date.now() % 2 ** 31 } = command.opts<{ runs?: number; seed?: number }>()
const chosen = (command.args.length > 0 ? command.args : Object.keys(KINDS)) as Kind[]

for (const kind of chosen) {
  const { variable, runs: usual, files } = KINDS[kind]
  console.log(`npm run worlds -- ${kind} --runs ${runs ?? usual} --seed ${seed}`)
  const { status } = spawnSync(
    'node_modules/.bin/vitest',
    ['run', `--testTimeout=${HOUR_MS}`, ...files],
    {
      stdio: 'inherit',
      env: { ...process.env, [variable]: String(runs ?? usual), TEST_SEED: String(seed) },
    },
  )
  if (status !== 0) process.exitCode = 1
}
