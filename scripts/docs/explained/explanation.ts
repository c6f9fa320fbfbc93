/** The explanation of a code for the engineer who receives it, in Markdown. */
export interface Explanation {
  /** Why the service returns the code. */
  cause: string
  /** What to do about it, with an example of a valid value. */
  fix: string
}
