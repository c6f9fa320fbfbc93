/** A request and its response, as a test recorded them. A body is null if there is none. */
export interface Recorded {
  operation: string
  name: string
  summary: string
  request: unknown
  status: number
  answer: unknown
}
