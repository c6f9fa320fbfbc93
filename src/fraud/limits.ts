/** The limits of a back-test. */
export const BACK_TEST_LIMITS = {
  /** The days. */
  days: 400,
  /** The records that it reads, and those that its findings name, which are in memory at once. */
  facts: 300_000,
  evidence: 100_000,
}

/** The limits of an evaluation of stored rules. */
export const EVALUATION_LIMITS = {
  /** The records that are in memory at once: a suspect affiliate with more on a day is a case of itself. */
  facts: 100_000,
  /** How many customers, or affiliates, are read first. How many then follows from their records. */
  customers: 1000,
  affiliates: 50,
  /** The days that are evaluated together. */
  days: 31,
  /** How often a request or a step begins again after others have changed what it builds on. */
  attempts: 5,
  /** The records after which a request, and a step of a run, begins no other rule. */
  requestFacts: 50_000,
  stepFacts: 500_000,
}

/** The most records that a case of a back-test lists. */
export const LISTED_EVIDENCE = 20

/** The limits of decisions. */
export const DECISION_LIMITS = {
  /** How often a request decides again because the case has changed meanwhile. */
  attempts: 5,
  /** The cases that one request decides. */
  cases: 200,
  /** The customers whom a decision refuses. */
  refused: 500,
}
