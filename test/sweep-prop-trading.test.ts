import { ROUTES } from './sweep/routes.ts'
import { eachFails } from './sweep/sweep.ts'

// Deliveries of prop firms: see sweep.test.ts. Their other requests run the code of those of brokers,
// which sweep-forex.test.ts has; `npm run pairs` sweeps them, too.

eachFails(
  ROUTES.filter(
    ({ as, vertical, writes }) => as === 'account' && vertical === 'prop-trading' && writes,
  ),
)
