import { ApiError } from '../errors.ts'

/** Returns a `malformed_json` error. `detail` may give a position, never text from the body. */
export const malformed = (detail: string, cause?: unknown) =>
  new ApiError('malformed_json', { detail, cause })

/** When to repeat a request that was refused because of other bodies, in seconds. */
const RETRY_AFTER_SECONDS = 10

const tryLater = (reason: string) =>
  new ApiError('unavailable', {
    detail: `${reason} Nothing was stored.`,
    headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) },
    cause: new Error(reason),
  })

/** Returns the error for a body that waited too long for memory. */
export const busy = () =>
  tryLater('The service is processing too many other bodies. Smaller bodies are processed sooner.')

/** Returns the error for a body that arrived too slowly. */
export const tooSlow = () =>
  tryLater(
    'The body did not arrive within 45 seconds. Send at least 256 KiB per second, or fewer records per request.',
  )

/** Returns the error for a body beyond 8 MiB, or beyond the limit of a file. */
export const tooLarge = (maxBytes?: number) =>
  new ApiError('payload_too_large', {
    detail: maxBytes
      ? `The file can have at most ${maxBytes / 1_048_576} MiB. Divide it.`
      : 'A body can have at most 8 MiB once decompressed. Send fewer records per request.',
  })
