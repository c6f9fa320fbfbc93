/** The limits of plans. They keep a plan readable, and its computation and storage bounded. */
export const PLAN_LIMITS = {
  /** The bytes of a version as JSON. */
  bytes: 65_536,
  rules: 50,
  /** The terms of one base, sum or `void_by`. */
  terms: 20,
  /** The conditions of one `qualify`. */
  qualifications: 10,
  /** The steps of one `tiers`. */
  steps: 20,
  /** The values of one list. */
  values: 200,
  /** The characters and the stars of one pattern of instruments. */
  globCharacters: 64,
  globStars: 2,
  /** The days of `within_days` and of `hold_days`. */
  days: 3650,
  holdDays: 365,
  graceHours: 168,
  months: 120,
  levels: 10,
  count: 1_000_000,
} as const
