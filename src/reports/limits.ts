/** The limits of reports. */
export const REPORT_LIMITS = {
  /** What `group_by` can name. */
  groupBy: 3,
  /** The rows of a report, without its totals. */
  groups: 10_000,
  /** The figures of all rows together. */
  figures: 200_000,
  /** The records of one resource that are summed. */
  records: 1_000_000,
  /** The records of one customer of one resource that one statement reads. */
  customer: 50_000,
  /** The values of KPIs that are summed. */
  kpis: 1_000_000,
  /**
   * The days that are searched for earlier deposits of customers who did not deposit within 7 days of
   * their signup, of all customers together.
   */
  searched: 5_000_000,
  /** The rows that one statement returns: groups by type, currency and day of the exchange rate. */
  rows: 40_000,
  /** The sums that are in memory at a time: those of each group, metric, currency and day of a rate. */
  sums: 200_000,
  /** The bytes of the JSON with the affiliates of an account's links. */
  linkBytes: 1_500_000,
}

/**
 * In which steps a report is read, each in one batch. D1 runs one batch of a database after the
 * other.
 */
export const REPORT_STEPS = {
  /** What one step costs at least: so many rows of trading activity, or about 50 ms. */
  cost: 10_000,
  /** The number of steps of a long report, about: beyond it, each costs more. */
  count: 50,
  /** How many more records than planned a statement may read of several customers. */
  excess: 50_000,
  /** The days that one statement searches for earlier deposits of several customers. */
  searched: 200_000,
  /** The searches for records of an affiliate's customers that are always faster than to read all records. */
  ownSearches: 20_000,
  /** The sums above which those of the days that were read are converted. */
  sums: 20_000,
}

/** The number of requests that a report counts as. */
export const REPORT_WEIGHT = 10

/** How long clicks are kept, in days. */
export const CLICK_DAYS = 30
