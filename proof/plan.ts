/** The mutants that are to be hunted, by the test file (its whole path) that does so. */
export interface Plan {
  files: Record<string, string[]>
}

/** What became of a mutant that some test of a file meets; `by`: the test that failed of it. */
export interface Catch {
  mutant: string
  by: string | null
  timedOut: boolean
}

/** How a line begins that tells of a catch: all else that is printed is the service's own. */
export const CAUGHT = 'caught: '

declare module 'vitest' {
  interface ProvidedContext {
    plan: Plan
  }
}
