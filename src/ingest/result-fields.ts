import * as v from 'valibot'
import { count, day } from '../platform/validation/answer-fields.ts'
import { component, described, named } from '../platform/validation/described.ts'
import { exactOptional, member } from '../platform/validation/fields.ts'
import { ISSUE_CODES, type IssueCode } from '../platform/validation/issue.ts'
import { MESSAGES } from '../platform/validation/warnings.ts'
import { OUTCOMES, type Outcome } from './db/item.ts'

// What the answer to a delivery has.

const index = described(() => member(count, 'The position of the record in the request, from 0.'))

const key = described(() =>
  member(v.record(v.string(), v.string()), 'The members that identify the record, as sent.'),
)

const pointer = described(() =>
  member(
    v.pipe(v.string(), v.regex(/^(\/([^~/]|~[01])*)*$/)),
    'A JSON Pointer (RFC 6901) into the body as sent.',
  ),
)

/** The id of a request. */
export const deliveryId = described(() =>
  member(
    named('DeliveryId', v.pipe(v.string(), v.regex(/^dlv_[0-9A-HJKMNP-TV-Z]{26}$/))),
    'The permanent id of the request. Quote it when you ask for support.',
  ),
)

/** The address of a delivery. */
export const deliveryUrl = described(() =>
  member(
    v.pipe(v.string(), v.url()),
    'The address at which the account reads the delivery, with the errors of its rejected records, for 30 days.',
  ),
)

/** A rule that a record breaks. */
export const brokenRule = component('BrokenRule', () => ({
  index: v.exactOptional(index),
  key: v.exactOptional(key),
  pointer,
  code: member(
    v.picklist(ISSUE_CODES) as v.GenericSchema<IssueCode>,
    'The broken rule. See `/docs/errors`.',
  ),
  message: member(v.string(), 'What is wrong. It never contains the value of a personal field.'),
  hint: exactOptional(v.string(), 'What was probably meant.'),
}))

/** A warning about a stored record. */
const warning = described(() => {
  return component('Warning', () => ({
    code: member(
      v.picklist([...Object.keys(MESSAGES), 'unknown_affiliate']),
      'The code of the warning. See `/docs/warnings`.',
    ),
    pointer,
    message: member(v.string(), 'What the sender should know.'),
    from: exactOptional(day, {
      description:
        'Of `affiliation_changed`: the day from which the new affiliate counts. The day of the signup if the first affiliate was corrected.',
      examples: ['2026-11-25'],
    }),
  }))
})

/** The number of records in the request, in total and by what became of them. */
export const summary = described(() => {
  const outcomes = OUTCOMES.map((name) => [
    name,
    member(count, `The number of records with the outcome \`${name}\`.`),
  ])
  return component('Summary', () => ({
    received: member(count, 'The number of records in the request.'),
    ...(Object.fromEntries(outcomes) as Record<Outcome, typeof count>),
    not_stored: member(
      count,
      'The number of records that are valid and were not stored, because others of the request were rejected. Send them again with the corrected ones.',
    ),
    warnings: exactOptional(
      count,
      'The number of warnings of all records that are listed. The log of deliveries does not count them.',
    ),
  }))
})

/** The outcome of each record of a request. */
export const result = component('Result', () => ({
  delivery_id: deliveryId,
  delivery_url: deliveryUrl,
  dry_run: member(v.boolean(), 'Whether the request was only validated.'),
  summary,
  errors: exactOptional(
    v.array(brokenRule),
    'At most 1000 errors, as a 422 lists them. Present if records were rejected.',
  ),
  errors_total: exactOptional(count, 'The number of errors. Present if records were rejected.'),
  results: member(
    v.array(
      v.object({
        index,
        key: v.exactOptional(key),
        outcome: member(v.picklist(OUTCOMES), 'The outcome of the record.'),
        warnings: exactOptional(v.array(warning), 'At most 10 warnings.'),
        errors: v.exactOptional(v.array(brokenRule)),
      }),
    ),
    'One result for each record, in order. With `Prefer: return=minimal`, only those with a warning or an error.',
  ),
}))

/** The answer to a delivery. */
export type Result = v.InferOutput<typeof result>
