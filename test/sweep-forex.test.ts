import { ROUTES } from './sweep/routes.ts'
import { eachFails } from './sweep/sweep.ts'

// Requests of brokers: see sweep.test.ts.

eachFails(ROUTES.filter(({ as, vertical }) => as === 'account' && vertical === 'forex'))
