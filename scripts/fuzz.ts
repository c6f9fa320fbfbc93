import { runGeneratedTests } from './generated-tests.ts'

// Runs the property tests with many inputs: hostile tokens, bodies, queries and headers, local times around
// every change of every time zone, sequences of requests against the rate limit, every fault of every
// call of the cron jobs, and the rows that each route reads of accounts with 100,000 records of each kind.

runGeneratedTests({
  invocation: 'npm run fuzz',
  description:
    'Sends hostile tokens, bodies, queries and headers. A failure prints the seed that repeats it.',
  files: ['test/fuzz-', 'test/zones', 'test/rate.', 'test/background', 'test/row-reads'],
  runsVariable: 'FUZZ_RUNS',
  usualRuns: 10_000,
})
