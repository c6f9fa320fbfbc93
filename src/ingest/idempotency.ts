import { digest } from '../auth/secret.ts'
import { ApiError } from '../errors.ts'
import { canonicalJson } from '../validation/canonical-json.ts'

const VISIBLE = /^[\x21-\x7e]{1,255}$/

/** The key that makes a request repeatable, if one was sent. */
export function readIdempotencyKey(header: string | undefined): string | null {
  if (header === undefined) return null
  if (VISIBLE.test(header)) return header
  throw new ApiError('invalid_request', {
    detail: 'Idempotency-Key has 1 to 255 visible ASCII characters.',
  })
}

/** The digest of records, the same whatever the order of their members and the space between them. */
export const digestRecords = (records: readonly unknown[]): Promise<string> =>
  digest(canonicalJson(records))
