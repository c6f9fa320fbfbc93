import { MAX_SUMMED } from '../platform/db/exact-sums.ts'

/** The limits of reports. */
export const REPORT_LIMITS = {
  /** What `group_by` can name. */
  groupBy: 3,
  /** The rows of a report, without its totals. */
  groups: 10_000,
  /** The figures of all rows together. */
  figures: 200_000,
  /** The records of one resource that are read. */
  records: MAX_SUMMED,
  /** About how many records are read at a time: D1 runs one batch of a database after the other. */
  range: 100_000,
  /** The customers of affiliates, times the days on which their records are searched for. */
  searches: 4_000_000,
  /** The rows that one statement returns: groups by type, currency and day of the exchange rate. */
  rows: 100_000,
  /** The bytes of the JSON with the affiliates of an account's links. */
  linkBytes: 1_500_000,
  /** How long the statements may take together, in milliseconds. */
  ms: 25_000,
}

/** How long clicks are kept, in days. */
export const CLICK_DAYS = 30
