import type { Outcome } from '../../../src/ingest/response.ts'

/** The meaning of each outcome, and what the sender should do. */
export const OUTCOME: Record<Outcome, string> = {
  created: 'The record is new and stored. You need not do anything.',
  updated:
    'The record replaced the stored version. For partners, fields that the new version omits are ' +
    'removed. For customers of brands, omitted fields keep their values.',
  unchanged:
    'The stored record is the same, so nothing was written. A repeated request returns this ' +
    'outcome, which makes it safe to repeat a request after a timeout.',
  stale:
    'The `last_modified_date` is older than that of the stored customer, so nothing was written. ' +
    'Send the latest version with its own `last_modified_date`. If this is the latest version, ' +
    'correct its date.',
  held:
    'The record is stored, but its customer is unknown. It is not counted until you send the ' +
    'customer, which releases the record. You need not send the record again. `GET held` lists ' +
    'all held records. If many records wait for a customer, some stay held for a few minutes after ' +
    'it has arrived.',
  rejected:
    'The record breaks a rule and was not stored. Valid records of the same request were stored ' +
    '(`handling=lenient`). Fix the fields listed in `errors`, then send this record again.',
}
