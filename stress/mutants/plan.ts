/** The task of the tests of one run, inside workerd. */
export interface Plan {
  /** The mutants that each test file hunts, by its whole path. */
  hunts: Record<string, Hunt>
  /** Whether each test reports which mutants it covers, instead of hunting any. */
  isMapping: boolean
}

/** The mutants that one test file hunts, with the names of the tests to run. */
export type Hunt = Record<string, string[]>

/** The result of running the tests of one file that cover a mutant. */
export interface HuntResult {
  mutant: string
  /** The name of the test that fails with the mutant; null if none does. */
  killedBy: string | null
  timedOut: boolean
}

/** The mutants that one test covers, and how long the test takes in milliseconds. */
export interface CoverageReport {
  /** The whole path of the test file. */
  file: string
  /** The full name of the test. */
  test: string
  mutants: string[]
  ms: number
}

/** The prefixes of the lines that tests report by; the service itself prints all other lines. */
export const STARTED_PREFIX = 'mutant started: '
export const RESULT_PREFIX = 'mutant result: '
export const COVERAGE_PREFIX = 'mutants covered: '
/** The ids of the mutants that ran while the modules of a test file loaded follow it. */
export const LOADED_PREFIX = 'mutants loaded: '

declare module 'vitest' {
  interface ProvidedContext {
    plan: Plan
  }
}
