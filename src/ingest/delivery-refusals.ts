import { ApiError } from '../errors.ts'
import type { Issue } from '../validation/issue.ts'
import { formatIssue } from '../validation/messages.ts'
import type { Summary } from './outcome.ts'

/** The id of a delivery and its address. */
interface Identity {
  delivery_id: string
  delivery_url: string
}

/** Returns the error for an Idempotency-Key that was used for other records. */
export const idempotencyKeyReused = (identity: Identity, summary: Summary) =>
  new ApiError('idempotency_key_reused', {
    detail:
      'Nothing was stored. Send different records with a new `Idempotency-Key`. If the records are the same, the event definitions of the account have changed since: check what was stored before you send them with a new key.',
    ...identity,
    summary,
    errors: [formatIssue({ pointer: '', code: 'idempotency_key_reused' })],
    errors_total: 1,
  })

/** Returns the error for a delivery of which nothing was stored, with the errors that are listed. */
export function validationFailed(
  identity: Identity,
  summary: Summary,
  total: number,
  listed: readonly Issue[],
) {
  const { received, rejected } = summary
  const isWholeBody = received === rejected && listed[0]?.index === undefined
  const are = rejected === 1 ? 'is' : 'are'
  return new ApiError('validation_failed', {
    detail: isWholeBody
      ? 'The body is invalid. Nothing was stored.'
      : `${rejected} of ${received} ${received === 1 ? 'record is' : `records ${are}`} invalid. Nothing was stored.`,
    ...identity,
    summary,
    errors: listed.map(formatIssue),
    errors_total: total,
  })
}
