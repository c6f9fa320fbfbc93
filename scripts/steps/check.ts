import { DERIVED_FILES } from './derived.ts'
import { runSteps } from './run-steps.ts'

runSteps(
  'npm run check',
  'Runs everything that CI checks besides the tests. Stops at the first failure.',
  [
    'biome ci .',
    ...DERIVED_FILES.map((step) => `${step} --check`),
    'node scripts/steps/lint-openapi.ts',
    'tsc',
    'tsc -p tsconfig.node.json',
    'node scripts/check-config.ts',
    'node scripts/check-bundle.ts',
    'node scripts/size.ts --check',
  ],
)
