import * as v from 'valibot'
import * as f from '../platform/validation/fields.ts'
import { member, optional, said } from '../platform/validation/fields.ts'
import { listOf } from '../platform/validation/shapes.ts'
import { DECISION_LIMITS } from './limits.ts'

/** The fields of a decision. */
export const caseDecision = {
  decision: member(
    f.oneOf('confirmed', 'dismissed'),
    said(
      'What was found is fraud, or it is not. A dismissed case holds nothing, and opens again only by records that it does not have.',
    ),
  ),
  reason: member(
    f.reason,
    said(
      'Why. The audit log and the case show it. Write no personal data.',
      'The customers share one device',
    ),
  ),
  keep_hold: optional(
    v.boolean(),
    said(
      'Only of `confirmed`: the payouts of the affiliate stay held, until the case is confirmed again without it. Defaults to `false`: the decision ends the hold.',
    ),
  ),
  refuse: optional(
    listOf(f.id, DECISION_LIMITS.refused),
    said(
      `Only of \`confirmed\`: customers of the case who earn nothing, 1 to ${DECISION_LIMITS.refused}. They are refused in the same step, with the case as the reason.`,
      ['c-1001'],
    ),
  ),
  from: optional(
    f.day,
    said(
      'The first day from which these customers earn nothing. Defaults to the beginning.',
      '2026-11-01',
    ),
  ),
  shown: optional(
    v.pipe(v.number(), v.integer(), v.minValue(1)),
    said(
      'The `evidence_total` of the case as the person saw it: if records were added since, nothing is decided.',
      8,
    ),
  ),
}
