import { eachFails } from './sweep/sweep.ts'
import { WAYS } from './sweep/ways.ts'

// Deliveries with other options than a plain bulk: see sweep.test.ts.

eachFails(WAYS)
