import { ROUTES } from './sweep/routes.ts'
import { eachFails } from './sweep/sweep.ts'

// Requests of affiliates: see sweep.test.ts.

eachFails(ROUTES.filter(({ as }) => as === 'affiliate'))
