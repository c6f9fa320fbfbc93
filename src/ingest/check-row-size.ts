import { ApiError } from '../errors.ts'
import type { RecordRows } from './resource.ts'

/** The contract: the maximum number of characters of all rows of a request. An isolate has 128 MB of memory. */
const MAX_ROW_CHARACTERS = 12_000_000

/**
 * Checks the size of the rows of a large body. Nested JSON is stored as text within text, whose
 * escaped quotes can make it several times larger than it was sent.
 *
 * @throws ApiError `payload_too_large`
 */
export function checkRowSize({ rows }: Pick<RecordRows, 'rows'>): void {
  let characters = 0
  for (const { values } of rows) {
    for (const value of Object.values(values)) {
      if (typeof value === 'string') characters += value.length
    }
  }
  if (characters <= MAX_ROW_CHARACTERS) return
  throw new ApiError('payload_too_large', {
    detail: 'The records are too large to store together. Send fewer records per request.',
  })
}
