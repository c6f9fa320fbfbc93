import type { Grant } from '../../platform/auth/grant.ts'
import { STATUSES } from '../../platform/directory/status-maps.ts'

/** Returns a function that tells whether a status has no meaning in the status map of the account. */
export function unmappedStatusFinder({ statuses }: Grant): (status: unknown) => boolean {
  const mapped = new Set<unknown>([...statuses, ...STATUSES])
  return (status) => !mapped.has(status)
}
