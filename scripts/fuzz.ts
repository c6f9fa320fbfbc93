import { runGeneratedTests } from './generated-tests.ts'

// Runs the property tests at length: hostile tokens, bodies, queries and headers,
// and local times around every change of every time zone.

runGeneratedTests({
  invocation: 'npm run fuzz',
  description:
    'Runs the property tests with random input. A failure prints the seed that repeats it.',
  files: ['test/fuzz-', 'test/zones'],
  runsVariable: 'FUZZ_RUNS',
  usualRuns: 10_000,
})
