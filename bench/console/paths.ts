/** The path at which the Worker returns the round trips since the last call. */
export const TRIPS_PATH = '/_trips'

/** The header of a request whose rows and round trips are counted. */
export const COUNTED = 'x-bench-counted'
