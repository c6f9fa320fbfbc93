import { runGeneratedTests } from './generated-tests.ts'

// Runs the model test at length: the service against a small model of the contract.

runGeneratedTests({
  invocation: 'npm run model',
  description:
    'Compares random sequences of requests with a model of the contract, and commissions from the database with those in memory. A failure prints the seed that repeats it.',
  files: ['test/model', 'test/commission/stored-worlds', 'test/commission/kept-facts'],
  runsVariable: 'MODEL_RUNS',
  usualRuns: 250,
})
