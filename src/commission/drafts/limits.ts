/** The most facts that one request computes. */
export const MAX_FRESH_FACTS = 50_000

/** The most lines, and about the most bytes, of one part of a statement. */
export const PART_LIMITS = { lines: 1000, bytes: 400_000 }

/** The limits of one step of a run. */
export const STEP_LIMITS = {
  /** The customers whose facts it reads, unless one affiliate alone depends on more. */
  customers: 20_000,
  affiliates: 1000,
}
