import { runSteps } from './run-steps.ts'

runSteps('npm run lint-openapi', 'Lints openapi.json with Redocly and Spectral.', [
  'redocly lint openapi.json',
  'spectral lint openapi.json --fail-severity=warn',
])
