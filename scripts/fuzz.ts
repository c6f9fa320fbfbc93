import { runGeneratedTests } from './generated-tests.ts'

// Runs the property tests at length: hostile tokens, bodies, queries and headers.

runGeneratedTests({
  invocation: 'npm run fuzz',
  description:
    'Runs the property tests with random input. A failure prints the seed that repeats it.',
  files: 'test/fuzz-',
  runsVariable: 'FUZZ_RUNS',
  usualRuns: 10_000,
})
