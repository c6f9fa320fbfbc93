import type { Route } from './sweep/routes.ts'
import { eachFails, routes } from './sweep/sweep.ts'

// Requests of an account whose records are in the second database and its settings in the first.

const IDS = [
  ...['sendForexTransactions', 'listForexTransactions', 'sendIgamingActivities'],
  ...['createLink', 'putAffiliates', 'resetAccount'],
]

eachFails(routes(...IDS).map((route): Route => ({ ...route, binding: 'DB_2' })))
