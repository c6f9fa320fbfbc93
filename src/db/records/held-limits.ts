/** The limits of held records. */
export const HELD_LIMITS = {
  /** The maximum number of held records of an account. Above, records of unknown customers are rejected. */
  account: 100_000,
  /** The maximum number of records that one statement releases. */
  release: 1000,
  /** The time for which held records are released after a response, in milliseconds. */
  releaseMs: 20_000,
}
