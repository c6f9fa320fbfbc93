/** How much is measured. */
export interface Scale {
  /** How often each contestant is measured; an uncounted round comes first. */
  rounds: number
  /** Bulks of 1000 records a phase and round. */
  bulks: number
  /** Requests of a route, or of one level of concurrency in a round. */
  requests: number
  /** How many records are stored when lists are read. */
  stored: readonly number[]
  /** How many records the control totals sum. */
  summed: number
}

/** What the published figures are made with. */
export const FULL: Scale = {
  rounds: 5,
  bulks: 8,
  requests: 300,
  stored: [1000, 100_000, 1_000_000],
  summed: 100_000,
}

/** Just enough to see that all of it works. */
export const QUICK: Scale = {
  rounds: 1,
  bulks: 1,
  requests: 20,
  stored: [1000, 5000],
  summed: 2000,
}
