import { runGeneratedTests } from './generated-tests.ts'

// Compares the service with a small model of the contract in many random sequences of requests.

runGeneratedTests({
  invocation: 'npm run model',
  description:
    'Compares random sequences of requests with a model of the contract, and commissions, explanations and simulations of random databases with those in memory. Ends a run of statements at each of its calls. A failure prints the seed that repeats it.',
  files: [
    'test/model',
    'test/commission/stored-worlds',
    'test/commission/kept-facts',
    'test/commission/stored-books',
    'test/commission/stored-why',
    'test/commission/stored-simulations',
    'test/commission/simulation-laws',
    'test/commission/book-faults',
  ],
  runsVariable: 'MODEL_RUNS',
  usualRuns: 250,
})
