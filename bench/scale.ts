/** How much the bench measures. */
export interface Scale {
  /** Measured rounds. */
  rounds: number
  /** Rounds before them that are not counted: they warm up the isolates. */
  warmUps: number
  /** Bulks of 1000 records per phase and round. */
  bulks: number
  /** Requests per route, or per level of concurrency in a round. */
  requests: number
  /** Records that are stored when lists are read. */
  stored: readonly number[]
  /** Records that the control totals sum. */
  summed: number
  /** Records that are stored before a growth is measured. */
  grown: readonly number[]
  /** Facts of the month whose commissions are computed. */
  facts: number
  /** Affiliates of the year to which fraud rules are applied; each has 400 customers. */
  affiliates: number
}

/** The scale of the published figures. */
export const FULL: Scale = {
  rounds: 5,
  warmUps: 1,
  bulks: 8,
  requests: 300,
  stored: [1000, 100_000, 1_000_000],
  summed: 100_000,
  grown: [0, 100_000, 300_000, 1_000_000],
  facts: 1_000_000,
  affiliates: 50,
}

/** The smallest scale, to see that the bench works. */
export const QUICK: Scale = {
  rounds: 1,
  warmUps: 0,
  bulks: 1,
  requests: 20,
  stored: [1000, 5000],
  summed: 2000,
  grown: [0, 5000],
  facts: 5000,
  affiliates: 5,
}
