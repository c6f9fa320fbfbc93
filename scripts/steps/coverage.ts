import { runSteps } from './run-steps.ts'

runSteps(
  'npm run coverage',
  'Runs the tests of the Worker and measures the branches that they cover.',
  ['vitest run --coverage'],
)
