import { ApiError } from '../errors.ts'

/** Returns null for the answer 404 of the administration API, and throws any other error. */
export function ifUnknown(error: unknown): null {
  if (error instanceof ApiError && error.code === 'not_found') return null
  throw error
}
