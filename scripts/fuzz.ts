import { runGeneratedTests } from './generated-tests.ts'

// Runs the property tests at length: hostile tokens, bodies, queries and headers,
// local times around every change of every time zone, and sequences of requests against the rate limit.

runGeneratedTests({
  invocation: 'npm run fuzz',
  description:
    'Runs the property tests with random input. A failure prints the seed that repeats it.',
  files: ['test/fuzz-', 'test/zones', 'test/rate.'],
  runsVariable: 'FUZZ_RUNS',
  usualRuns: 10_000,
})
