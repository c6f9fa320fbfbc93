import { HMAC, hmacKeys } from '../auth/hmac-keys.ts'
import { digest } from '../auth/secret.ts'
import type { DeliveryInput } from '../db/records/delivery-input.ts'
import { ApiError } from '../errors.ts'
import { canonicalJson } from '../validation/canonical-json.ts'
import { isObject, type RecordValidator } from '../validation/record-validator.ts'
import type { RequestContext } from './resource.ts'
import type { ValidatedRequest } from './validate-records.ts'

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

/** Returns the key of a request with the digests of its records; null if it has none. */
export async function readIdempotency(
  { env, idempotencyKey }: Pick<RequestContext, 'env' | 'idempotencyKey'>,
  { records }: Pick<ValidatedRequest, 'records'>,
  validator: RecordValidator,
): Promise<DeliveryInput['idempotency']> {
  if (idempotencyKey === null) return null
  const digests = await digestRecords(env.TRACKING_KEYS, records, validator)
  return { key: idempotencyKey, digests }
}

/**
 * Returns the digests of records under all keys of `keys` (TRACKING_KEYS), that of the first key first,
 * and last the digest without a key, which was stored before digests had keys. They ignore the order
 * of members and white space.
 *
 * The digests outlive an erasure. Without the HMAC keys, which are not in the database, a reader of the
 * database could test guesses of an erased name: everything else of the records is often known.
 *
 * A digest also covers the identities that depend on settings of the account: if a setting changes, a
 * repeated request would otherwise be stored a second time, under other identities.
 */
export async function digestRecords(
  keys: string,
  records: readonly unknown[],
  { configuredIdentityOf }: Pick<RecordValidator, 'configuredIdentityOf'> = {},
): Promise<string[]> {
  const identities = records.flatMap((record, index) => {
    const identity = isObject(record) ? configuredIdentityOf?.(record) : undefined
    return identity === undefined ? [] : [[index, identity]]
  })
  const suffix = identities.length > 0 ? ` ${canonicalJson(identities)}` : ''
  const text = canonicalJson(records) + suffix
  const message = new TextEncoder().encode(`records ${text}`)
  const macs = await Promise.all(
    (await hmacKeys(keys)).map((key) => crypto.subtle.sign(HMAC, key, message)),
  )
  return [...macs.map((mac) => new Uint8Array(mac).toHex()), await digest(text)]
}
