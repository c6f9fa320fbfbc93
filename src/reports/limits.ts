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
  /** The records of one customer of one resource. */
  customer: 50_000,
  /** The values of KPIs that are summed. */
  kpis: 1_000_000,
  /**
   * The days that are searched for earlier deposits of customers who did not deposit within 7 days of
   * their signup, of all customers together.
   */
  searched: 5_000_000,
  /** The sums that are kept at a time: those of each group, metric, currency and day of a rate. */
  sums: 200_000,
  /** The rows that the statement of commission returns. */
  statements: 40_000,
  /** The bytes of the JSON with the affiliates of an account's links. */
  linkBytes: 1_500_000,
}

/** How a report is read. D1 runs one batch of a database after the other, so each is short. */
export const REPORT_STEPS = {
  /** What one batch costs at least: so many rows of trading activity, or about 20 ms. */
  batch: 4000,
  /** How many batches of a report are as short as that; those of a longer one are longer. */
  batches: 300,
  /** How many times more a statement may read than planned, if a customer has many records. */
  excess: 3,
  /** The days that one statement searches for earlier deposits. */
  searched: 50_000,
  /** The sums above which those of days that were read are converted. */
  sums: 20_000,
}

/** The number of requests that a report counts as. */
export const REPORT_WEIGHT = 10

/** How long clicks are kept, in days. */
export const CLICK_DAYS = 30
