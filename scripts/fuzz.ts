import { spawnSync } from 'node:child_process'
import { Option } from 'commander'
import { readOptions, wholeNumber } from './command-line.ts'

// Runs the generated tests at length, with another seed each time: hostile input, or with `--model`
// sequences of requests. `npm test` runs the same files with few runs and a fixed seed.

interface Options {
  model: boolean
  runs?: number
  seed?: number
}

const isModel = process.argv.includes('--model')

const { runs = isModel ? 250 : 10_000, seed = Date.now() % 2 ** 31 } = readOptions<Options>(
  isModel ? 'npm run model' : 'npm run fuzz',
  isModel
    ? 'Compares random sequences of requests with a model of the contract. A failure prints the seed that repeats it.'
    : 'Runs the property tests with random input. A failure prints the seed that repeats it.',
  (command) =>
    command
      .addOption(new Option('--model', 'set by `npm run model`').default(false).hideHelp())
      .option('--runs <count>', 'inputs or sequences per property', wholeNumber(1, 1e9))
      .option('--seed <number>', 'repeats the inputs of a run', wholeNumber(-(2 ** 31), 2 ** 31)),
)
const { status } = spawnSync(
  'node_modules/.bin/vitest',
  ['run', isModel ? 'test/model' : 'test/fuzz-'],
  {
    stdio: 'inherit',
    env: {
      ...process.env,
      [isModel ? 'MODEL_RUNS' : 'FUZZ_RUNS']: String(runs),
      TEST_SEED: String(seed),
    },
  },
)
process.exitCode = status ?? 1
