import type { Delivery } from '../schema.ts'
import type { Policy } from './classify-sql.ts'
import type { Row } from './json-chunks.ts'
import type { StoredSizes } from './sizes-sql.ts'

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
  /** The request's Idempotency-Key, and the digest of its records. */
  idempotency: { key: string; digest: string } | null
  /** Whether it has records of the day before it was received, or of that day (UTC). */
  hasYesterday: boolean
  hasToday: boolean
  /** The valid records: the first of each key, and in order those that repeat a key. */
  rows: Row[]
  repeatedRows: Row[]
  /** The valid fields of invalid records, whose references are checked, too. */
  invalidRows: Row[]
  /**
   * Returns the rows with what the classification needs, after deciding which records are too large;
   * `stored` has the sizes of those records that the database could not decide on, by key. Absent for
   * tables without a `sizeLimit`.
   */
  decideSizes?: (
    stored: ReadonlyMap<unknown, StoredSizes>,
  ) => Pick<DeliveryInput, 'rows' | 'repeatedRows'>
}

/**
 * Returns the rows of a request and empties them in `input`, so that they can be freed once they are
 * JSON: an isolate has no room for both forms of a large request.
 */
export function takeRows(
  input: DeliveryInput,
): Pick<DeliveryInput, 'rows' | 'repeatedRows' | 'invalidRows'> {
  const { rows, repeatedRows, invalidRows } = input
  input.rows = []
  input.repeatedRows = []
  input.invalidRows = []
  return { rows, repeatedRows, invalidRows }
}
