import { ROUTES } from './sweep/routes.ts'
import { eachFails } from './sweep/sweep.ts'

// Deliveries of prop firms: see sweep.test.ts. Their reads run the same code as those of brokers in
// sweep-forex.test.ts; `npm run pairs` sweeps them, too.

eachFails(
  ROUTES.filter(
    ({ as, vertical, writes }) => as === 'account' && vertical === 'prop-trading' && writes,
  ),
)
