import { runSteps } from './run-steps.ts'

runSteps('npm run lint-openapi', 'Lints openapi.json with Redocly.', ['redocly lint openapi.json'])
