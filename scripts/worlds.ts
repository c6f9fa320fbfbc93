import { runGeneratedTests } from './generated-tests.ts'

// Runs the tests of the commission engine at length: the engine against an independent oracle.

runGeneratedTests({
  invocation: 'npm run worlds',
  description:
    'Compares the commission engine with its oracle on random worlds, and checks their explanations. A failure prints the seed.',
  files: [
    'test/commission/worlds',
    'test/commission/laws',
    'test/commission/books-model',
    'test/commission/explain.test',
    'test/commission/unearned.test',
  ],
  runsVariable: 'MODEL_RUNS',
  usualRuns: 20_000,
})
