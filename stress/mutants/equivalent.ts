/** Mutants of one expression that no test can tell from the source. */
export interface Equivalent {
  file: string
  /** The top-level declaration, or the method as `Class.method`. */
  declaration: string
  /** The source that is replaced, as the report prints it. */
  was: string
  is: readonly string[]
  why: string
}
