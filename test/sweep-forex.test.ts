import { ROUTES } from './sweep/routes.ts'
import { eachFails } from './sweep/sweep.ts'

// Requests of brokers: see sweep.test.ts. `npm run pairs` sweeps those of prop firms, which run the same code.

eachFails(ROUTES.filter(({ as, vertical }) => as === 'account' && vertical === 'forex'))
