/** A request and its answer, as a test made them: bodies, null where there is none. */
export interface Recorded {
  operation: string
  name: string
  summary: string
  request: unknown
  status: number
  answer: unknown
}
