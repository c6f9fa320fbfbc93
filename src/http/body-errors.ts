import { ApiError } from '../errors.ts'

/** JSON that cannot be read; `detail` says where, and never what. */
export const malformed = (detail: string, cause?: unknown) =>
  new ApiError('malformed_json', { detail, cause })
