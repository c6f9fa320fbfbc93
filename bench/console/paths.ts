/** The round trips of a page: until its first part is sent, and until its end. */
export interface Trips {
  readonly shown: number
  readonly all: number
}

/** The path at which the Worker returns the round trips of the last request that was counted. */
export const TRIPS_PATH = '/_trips'

/** The header of a request whose rows and round trips are counted. */
export const COUNTED = 'x-bench-counted'
