import { eachFails } from './sweep/sweep.ts'

// What the integrations team looks at: see sweep.test.ts.

eachFails(({ as, writes }) => as === 'team' && !writes)
