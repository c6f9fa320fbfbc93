import { digest } from '../auth/secret.ts'
import { ApiError } from '../errors.ts'
import { canonicalJson } from '../validation/canonical-json.ts'
import { isObject, type RecordValidator } from '../validation/record-validator.ts'

const KEY_PATTERN = /^[\x21-\x7e]{1,255}$/

/**
 * Returns the `Idempotency-Key`, or null if none was sent.
 *
 * @throws ApiError `invalid_request` for a malformed key.
 */
export function readIdempotencyKey(header: string | undefined): string | null {
  if (header === undefined) return null
  if (KEY_PATTERN.test(header)) return header
  throw new ApiError('invalid_request', {
    detail: 'The header `Idempotency-Key` must have 1 to 255 visible ASCII characters.',
  })
}

/**
 * Returns a digest of records that ignores the order of members and white space. It also covers the
 * identities that depend on settings of the account: if a setting changes, a repeated request would
 * otherwise be stored a second time, under other identities.
 */
export function digestRecords(
  records: readonly unknown[],
  { configuredIdentityOf }: Pick<RecordValidator, 'configuredIdentityOf'> = {},
): Promise<string> {
  const identities = records.flatMap((record, index) => {
    const identity = isObject(record) ? configuredIdentityOf?.(record) : undefined
    return identity === undefined ? [] : [[index, identity]]
  })
  const suffix = identities.length > 0 ? ` ${canonicalJson(identities)}` : ''
  return digest(canonicalJson(records) + suffix)
}
