import { ROUTES, type Route } from './sweep/routes.ts'
import { eachFails, routes } from './sweep/sweep.ts'
import { WAYS } from './sweep/ways.ts'

// Requests of brokers and brands: see sweep.test.ts. `npm run pairs` sweeps those of prop firms, which run
// the same code as those of brokers.

/** Requests of an account whose records are in the second database and its settings in the first. */
const ELSEWHERE = [
  ...['sendForexTransactions', 'listForexTransactions', 'sendIgamingActivities'],
  ...['createLink', 'putAffiliates', 'resetAccount'],
]

eachFails([
  ...ROUTES.filter(({ as, vertical }) => as === 'account' && vertical !== 'prop-trading'),
  ...WAYS,
  ...routes(...ELSEWHERE).map((route): Route => ({ ...route, binding: 'DB_2', way: 'in DB_2' })),
])
