import { eachFails, eachVanishes } from './sweep/sweep.ts'

// What brokers send and read: see sweep.test.ts.

eachFails(({ as, vertical }) => as === 'account' && vertical === 'forex')
eachVanishes('sendForexCustomers')
