import { eachFails } from './sweep/sweep.ts'
import { WAYS } from './sweep/ways.ts'

// Records that are sent in other ways than as a bulk: see sweep.test.ts.

eachFails(WAYS)
