import { DERIVED_FILES } from './derived.ts'
import { runSteps } from './run-steps.ts'

runSteps(
  'npm run generate',
  'Writes the files that are derived from the code, the migrations and the currency list.',
  [
    ...DERIVED_FILES,
    'vitest run --mode record test/examples.test.ts test/commission/recorded-worlds.test.ts',
    // openapi.json contains the recorded examples.
    'node scripts/generate.ts',
  ],
)
