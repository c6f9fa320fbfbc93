import { ROUTES } from './sweep/routes.ts'
import { eachFails } from './sweep/sweep.ts'

// Reads of the integrations team: see sweep.test.ts.

eachFails(ROUTES.filter(({ as, writes }) => as === 'team' && !writes))
