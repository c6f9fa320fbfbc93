/** What the tests of a run are asked to do inside workerd. */
export interface Plan {
  /** What each test file hunts, by its whole path. */
  hunts: Record<string, Hunt>
  /** Whether each test reports which mutants it meets, instead of hunting any. */
  isMapping: boolean
}

/** What one test file hunts: the names of the tests to run, by mutant. */
export type Hunt = Record<string, string[]>

/** What became of a mutant that at least one test of a file meets. */
export interface Hunted {
  mutant: string
  /** The name of the test that fails with the mutant; null if none does. */
  by: string | null
  timedOut: boolean
}

/** The mutants that one test meets, and how long the test takes in milliseconds. */
export interface Met {
  /** The whole path of the test file. */
  file: string
  /** The full name of the test. */
  test: string
  mutants: string[]
  ms: number
}

/** The prefixes of the lines that tests report by; the service itself prints all other lines. */
export const STARTED = 'mutant started: '
export const HUNTED = 'mutant hunted: '
export const MET = 'mutants met: '

declare module 'vitest' {
  interface ProvidedContext {
    plan: Plan
  }
}
