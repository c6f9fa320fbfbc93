import { ROUTES } from './sweep/routes.ts'
import { eachFails } from './sweep/sweep.ts'

// What brokers send and read: see sweep.test.ts.

eachFails(ROUTES.filter(({ as, vertical }) => as === 'account' && vertical === 'forex'))
