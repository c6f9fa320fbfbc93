/** The limits of one request for a simulation. */
export const SIMULATION_LIMITS = {
  /** The periods from the first to the last. */
  periods: 24,
  /** The affiliates of one page. */
  affiliates: 500,
} as const
