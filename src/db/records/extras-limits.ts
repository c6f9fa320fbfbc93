/** The maximum size of a customer's additional fields over all deliveries, in bytes. */
export const MAX_EXTRAS_BYTES = 65_536

/** The maximum number of a customer's additional fields over all deliveries. */
export const MAX_EXTRAS_NUMBER = 256

/**
 * The bytes of stored additional fields that one request rewrites beside those that it sends: as many as
 * 64 full customers have. A change of one field rewrites all fields of the customer.
 */
export const MAX_REWRITTEN_BYTES = 64 * MAX_EXTRAS_BYTES

/** The limits of a column of JSON that grows with each re-send. */
export interface SizeLimit {
  readonly column: string
  /** The key of the table, beside the account. */
  readonly key: string
  readonly maxBytes: number
  readonly maxMembers: number
  /** The bytes of this column that one request rewrites beside those that it sends. */
  readonly maxRewritten: number
}

/** The limits of a customer's additional fields. */
export const EXTRAS_LIMIT: SizeLimit = {
  column: 'extras',
  key: 'customer_id',
  maxBytes: MAX_EXTRAS_BYTES,
  maxMembers: MAX_EXTRAS_NUMBER,
  maxRewritten: MAX_REWRITTEN_BYTES,
}
