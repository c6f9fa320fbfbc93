/** What a code means to the engineer who meets it, in Markdown. */
export interface Explanation {
  /** When exactly it is answered. */
  cause: string
  /** What to do about it, with a value that works. */
  fix: string
}
