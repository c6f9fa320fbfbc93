/** The limits of a page of a back-test. */
export const BACK_TEST_LIMITS = {
  /** The affiliates, and the customers after which a group of affiliates is read. */
  affiliates: 1000,
  customers: 2000,
  /** The groups of affiliates: each is a search of all customers. */
  groups: 20,
  /** The days. */
  days: 400,
  /** The records that findings name, which are in memory at once. */
  evidence: 100_000,
}

/** The limits of an evaluation of stored rules. */
export const EVALUATION_LIMITS = {
  /** The records that are in memory at once: an affiliate with more on a day is not evaluated. */
  facts: 100_000,
  /** The records that the findings of a group name; an affiliate of which they name more is not evaluated to the end. */
  evidence: 100_000,
  /**
   * The customers after which a group of affiliates is read: of the first group, and the most. How many
   * follows from the records of the group before.
   */
  firstCustomers: 4000,
  customers: 20_000,
  /** The days that are evaluated together. */
  days: 31,
  /** How often an affiliate with too many records is read in smaller parts. */
  parts: 100,
  /** How often a request or a step begins again after others have changed what it builds on. */
  attempts: 5,
  /** The records that a request reads, and those that a step of a run reads. */
  requestFacts: 50_000,
  stepFacts: 500_000,
}

/** The most records that a case of a back-test lists. */
export const LISTED_EVIDENCE = 20

/** The limits of decisions and notes. */
export const DECISION_LIMITS = {
  /** How often a request decides again because the case has changed meanwhile. */
  attempts: 5,
  /** The customers whom a decision refuses. */
  refused: 500,
  /** The characters of a note, and the notes of a case. */
  note: 4000,
  notes: 200,
}
