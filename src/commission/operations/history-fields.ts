import * as f from '../../platform/validation/fields.ts'
import { member, nullable, optional, said } from '../../platform/validation/fields.ts'
import { listOf, objectOf } from '../../platform/validation/shapes.ts'

// The fields of request bodies about what is known of a customer by day.

/** The affiliations that one customer can have. */
const MAX_AFFILIATIONS = 1000

/** The fields of an affiliation. */
const affiliation = {
  from: nullable(
    f.day,
    said(
      'The first day of the affiliate. Null in the first entry, which holds from the beginning.',
      '2026-11-01',
    ),
  ),
  affiliate_id: nullable(
    f.affiliateId,
    said('The affiliate from that day on. Null: the customer is organic.', 'IB-07'),
  ),
}

const reason = member(f.reason, said('Why it is done. It is in the audit log.', 'Wrong link'))

/** The fields of a correction. */
export const correction = {
  reason,
  affiliations: member(
    listOf(objectOf(affiliation), MAX_AFFILIATIONS),
    said(`All affiliates of the customer by day, in order: 1 to ${MAX_AFFILIATIONS}.`),
  ),
}

/** The fields of a refusal. */
export const refusal = {
  reason,
  from: optional(
    f.day,
    said(
      'The first day from which the customer earns nothing. Defaults to the beginning.',
      '2026-11-01',
    ),
  ),
}
