import type { JsonSize } from './body-size.ts'

/** The memory of the parsed value, its validation and its errors, in bytes. */
const BYTES_PER_VALUE = 160
const BYTES_PER_CONTAINER = 240

/** The memory of a request beside its body, in bytes. */
const REQUEST_BYTES = 4096

/** Above this weight the Worker frees the parsed records, but for what the response needs. */
const FREES_RECORDS_WEIGHT = 12 * 1024 * 1024

/** What a body takes in memory at its worst. */
export interface BodyWeight {
  /** Bytes. */
  weight: number
  /**
   * Whether the Worker must free the parsed records before it stores their rows, because memory has no
   * room for both.
   */
  mustFreeRecords: boolean
}

/**
 * Estimates what a body takes in memory at its worst, which is an upper bound for the two times when
 * it takes the most: parsed and validated, or written as JSON for the database.
 */
export function weigh({
  bytes,
  values,
  containers,
  escapes,
  isWide,
}: Omit<JsonSize, 'mayBeInexact'>): BodyWeight {
  const width = isWide ? 2 : 1
  const parsed =
    2 * width * bytes + values * BYTES_PER_VALUE + containers * BYTES_PER_CONTAINER + REQUEST_BYTES
  // The rows are JSON, which may hold JSON as text. The request to D1 is JSON that holds the rows,
  // twice if records move: as a string, and as bytes.
  const rows = width * (bytes + escapes)
  const requests = 2 * (width + 1) * (bytes + 3 * escapes)
  const both = parsed + rows + requests
  const mustFreeRecords = both > FREES_RECORDS_WEIGHT
  return {
    weight: mustFreeRecords ? Math.max(parsed + rows, rows + requests) : both,
    mustFreeRecords,
  }
}
