import { runSteps } from './run-steps.ts'

runSteps('npm run fix', 'Formats the code, fixes lint errors and writes derived files.', [
  'biome check --write .',
  'node scripts/steps/generate.ts',
])
