/** The limits of one request for a simulation. */
export const SIMULATION_LIMITS = {
  /** The affiliates of one page. */
  affiliates: 500,
} as const
