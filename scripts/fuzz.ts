import { spawnSync } from 'node:child_process'
import { misused, readOptions } from './said.ts'

// Runs the generated tests at length, with another seed each time: hostile input by
// `npm run fuzz -- --runs 100000`, sequences of requests by `npm run model -- --runs 1000`.
// `--seed N` repeats a run. `npm test` runs the same files with few runs and a fixed seed.

const {
  model,
  runs = model ? '250' : '10000',
  seed = String(Date.now() % 2 ** 31),
} = readOptions({
  model: { type: 'boolean', default: false },
  runs: { type: 'string' },
  seed: { type: 'string' },
})
if (!/^[1-9]\d*$/.test(runs) || !/^-?\d+$/.test(seed)) {
  misused('npm run fuzz -- --runs N --seed S: whole numbers, N at least 1.')
}
const { status } = spawnSync(
  'node_modules/.bin/vitest',
  ['run', model ? 'test/model' : 'test/fuzz-'],
  {
    stdio: 'inherit',
    env: { ...process.env, [model ? 'MODEL_RUNS' : 'FUZZ_RUNS']: runs, TEST_SEED: seed },
  },
)
process.exitCode = status ?? 1
