/** The maximum size of the additional fields of a record, in bytes of JSON (contract §7). */
export const MAX_RECORD_EXTRAS_BYTES = 16_384

/** The maximum size of a customer's additional fields over all deliveries, as stored: those of any record fit. */
export const MAX_EXTRAS_BYTES = 40_960

/**
 * The maximum number of these fields. A merge compares each of them with each stored one, so its time grows with the
 * product of both numbers.
 */
export const MAX_EXTRAS_NUMBER = 64
