import { ApiError } from '../errors.ts'

/** Returns a `malformed_json` error. `detail` may give a position, never text from the body. */
export const malformed = (detail: string, cause?: unknown) =>
  new ApiError('malformed_json', { detail, cause })
