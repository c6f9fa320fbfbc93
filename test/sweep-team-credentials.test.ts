import { ROUTES } from './sweep/routes.ts'
import { eachFails } from './sweep/sweep.ts'

// Administration of credentials and erasures: see sweep.test.ts.

eachFails(
  ROUTES.filter(
    ({ as, writes, id }) => as === 'team' && writes && /Client|Token|Key|Erasures|erase/.test(id),
  ),
)
