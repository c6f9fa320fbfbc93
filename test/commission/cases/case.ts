/**
 * An example of the engine with its outcome. Vitest runs it, and so do the threads that run mutation
 * tests of the engine, which have no Vitest.
 */
export interface Case {
  readonly name: string
  /** Computes the outcome. A text that starts with `Error:` stands for an exception. */
  readonly actual: () => unknown
  readonly expected: unknown
}

/** Builds a case. */
export const example = (name: string, actual: () => unknown, expected: unknown): Case => ({
  name,
  actual,
  expected,
})
