import type { Route } from './sweep/routes.ts'
import { eachFails, routes } from './sweep/sweep.ts'

// Of an account whose records are in a database of their own, while it is known in the first.

const both = [
  ...['sendForexTransactions', 'listForexTransactions', 'sendIgamingActivities'],
  ...['createLink', 'putAffiliates', 'resetAccount'],
]

eachFails(routes(...both).map((route): Route => ({ ...route, binding: 'DB_2' })))
