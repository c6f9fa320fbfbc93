import * as v from 'valibot'

// Members that many answers have.

/** A time on the wire, in UTC. */
export const time = v.pipe(v.string(), v.isoTimestamp())

/** A day, `YYYY-MM-DD`. */
export const day = v.pipe(v.string(), v.isoDate())

/** A whole number of at least 0. */
export const count = v.pipe(v.number(), v.integer(), v.minValue(0))
