import { ROUTES } from './sweep/routes.ts'
import { eachFails } from './sweep/sweep.ts'

// What the integrations team looks at: see sweep.test.ts.

eachFails(ROUTES.filter(({ as, writes }) => as === 'team' && !writes))
