import * as v from 'valibot'
import { member } from '../http/operation.ts'

// Members that many answers have.

/** A time on the wire, in UTC. */
export const time = v.pipe(v.string(), v.isoTimestamp())

/** A day, `YYYY-MM-DD`. */
export const day = v.pipe(v.string(), v.isoDate())

/** A whole number of at least 0. */
export const count = v.pipe(v.number(), v.integer(), v.minValue(0))

/** When a change reaches live tokens. */
export const takes_effect = member(
  v.picklist(['now', 'within a minute']),
  'When live tokens follow the change. `within a minute` means that some could not be notified at once.',
)
/** An amount of money, as decimal text. */
export const money = v.pipe(v.string(), v.regex(/^-?\d+(\.\d+)?$/))
