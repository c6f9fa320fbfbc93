import { eachFails } from './sweep/sweep.ts'

// What brands send and read: see sweep.test.ts.

eachFails(({ as, vertical }) => as === 'account' && vertical === 'igaming')
