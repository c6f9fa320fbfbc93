import { ROUTES } from './sweep/routes.ts'
import { eachFails } from './sweep/sweep.ts'

// Changes of settings by the integrations team: see sweep.test.ts.

eachFails(
  ROUTES.filter(
    ({ as, writes, id }) => as === 'team' && writes && !/Client|Token|Key|Erasures|erase/.test(id),
  ),
)
