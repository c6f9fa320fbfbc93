import { eachFails } from './sweep/sweep.ts'

// What prop firms send and read: see sweep.test.ts.

eachFails(({ as, vertical }) => as === 'account' && vertical === 'prop-trading')
