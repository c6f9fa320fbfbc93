import { runGeneratedTests } from './generated-tests.ts'

// Compares the commission engine with an oracle, a second and simpler implementation, on many random worlds,
// and the reports of a random account with those of another oracle.

runGeneratedTests({
  invocation: 'npm run worlds',
  description:
    'Compares the commission engine with a second implementation on random records and plans, and checks the explanations. Compares reports with a second implementation, too. A failure prints the seed that repeats it.',
  files: [
    'test/commission/worlds',
    'test/commission/laws',
    'test/commission/books-model',
    'test/commission/explain.test',
    'test/commission/unearned.test',
    'test/reports/worlds',
  ],
  runsVariable: 'MODEL_RUNS',
  usualRuns: 20_000,
})
