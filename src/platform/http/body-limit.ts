/** The contract: the maximum size of a decompressed body, 8 MiB. */
export const MAX_BODY_BYTES = 8 * 1024 * 1024
