import type { Delivery } from '../schema.ts'
import type { Policy } from './classify-sql.ts'
import type { Row } from './json-chunks.ts'

/** What the Worker decided about a record that the database could not decide on. */
export interface SizeDecision {
  /** The delivery that had written the stored record; `''` if there is none. */
  delivery: string
  isTooLarge: boolean
}

/** Decides which records of a request are too large. */
export interface SizeDecider {
  /** Returns whether the record of a key is too large; `stored` is the JSON text. */
  isTooLarge: (key: unknown, stored: string | null) => boolean
  /** Returns the rows with what the classification needs, with the decisions by key. */
  toRows: (decisions: ReadonlyMap<unknown, SizeDecision>) => Row[]
}

/** A validated request: all that the database needs to decide the rest. */
export interface DeliveryInput {
  id: string
  account: string
  resource: string
  form: Delivery['form']
  /** When the request was received, in milliseconds. */
  receivedAt: number
  /** The day on which it was received, in the account's time zone for brands, in UTC for partners. */
  receivedDay: string
  /** The time zone in which the days of its records were computed. */
  bookZone: string
  dryRun: boolean
  lenient: boolean
  /** The bytes that the account may store. */
  storageQuota: number
  /** What happens to records that refer to something unknown. */
  policy: Policy
  /** Whether the caller needs the outcome of each record. */
  returnRecordOutcomes: boolean
  received: number
  /** The number of records that failed validation. */
  invalidCount: number
  /** The number of their errors, and the first of these as JSON; null if there are none. */
  errorsTotal: number
  errors: string | null
  /** The request's Idempotency-Key, and the digests of its records: the first one is stored. */
  idempotency: { key: string; digests: readonly string[] } | null
  /** Whether it has records of the day before it was received, or of that day (UTC). */
  hasYesterday: boolean
  hasToday: boolean
  /** The valid records, one of each key. */
  rows: Row[]
  /** The positions of records that were merged into an earlier one with the same key, and its position. */
  repeats: ReadonlyMap<number, number>
  /** The valid fields of invalid records, whose references are checked, too. */
  invalidRows: Row[]
  /** Decides which records are too large. Absent for tables without a `sizeLimit`. */
  sizes?: SizeDecider
}

/**
 * Returns the rows of a request and empties them in `input`, so that they can be freed once they are
 * JSON: an isolate has no room for both forms of a large request.
 */
export function takeRows(input: DeliveryInput): Pick<DeliveryInput, 'rows' | 'invalidRows'> {
  const { rows, invalidRows } = input
  input.rows = []
  input.invalidRows = []
  return { rows, invalidRows }
}
