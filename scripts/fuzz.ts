import { spawnSync } from 'node:child_process'
import { misused, readOptions } from './said.ts'

// Hostile input at length: `npm run fuzz -- --runs 100000`. What fails is told with its seed, and
// `npm run fuzz -- --seed 42` makes it again; `npm test` runs the same files for a minute.

const { runs, seed } = readOptions({
  runs: { type: 'string', default: '10000' },
  seed: { type: 'string' },
})
if (!/^[1-9]\d*$/.test(runs) || (seed !== undefined && !/^-?\d+$/.test(seed))) {
  misused('npm run fuzz -- --runs N --seed S: whole numbers, N at least 1.')
}
const { status } = spawnSync('node_modules/.bin/vitest', ['run', 'test/fuzz-'], {
  stdio: 'inherit',
  env: { ...process.env, FUZZ_RUNS: runs, ...(seed !== undefined && { FUZZ_SEED: seed }) },
})
process.exitCode = status ?? 1
