import { runSteps } from './run-steps.ts'

runSteps(
  'npm run coverage',
  'Runs the tests of the Worker, measures which branches they cover, and fails if they leave one out.',
  ['vitest run --coverage'],
)
