/** The limits of a page of a back-test. */
export const BACK_TEST_LIMITS = {
  /** The affiliates, and the customers after which a group of affiliates is read. */
  affiliates: 1000,
  customers: 2000,
  /** The groups of affiliates: each is a search of all customers. */
  groups: 20,
  /** The days. */
  days: 400,
}

/** The most records that a case of a back-test lists. */
export const LISTED_EVIDENCE = 20
