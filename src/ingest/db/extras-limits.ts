/** The maximum size of a customer's additional fields over all deliveries, in bytes. */
export const MAX_EXTRAS_BYTES = 65_536

/** The maximum number of a customer's additional fields over all deliveries. */
export const MAX_EXTRAS_NUMBER = 256

/** The customers with full additional fields that one request may rewrite, as many bytes as these have. */
export const MAX_FULL_CUSTOMERS = 64
