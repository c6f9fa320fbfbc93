import { CAUSE_LIMITS } from '../../../src/commission/statements/cause-list.ts'
import { documented, object } from '../envelopes.ts'
import type { JsonSchema } from '../types.ts'
import { COUNT, DAY, oneOf, orNull, TEXT, TIME } from './shapes.ts'

const kind = (name: string) => documented('What changed.', { type: 'string', const: name })
const customer_id = documented('The customer.')
const audit_id = documented('The entry of the audit log.')
const delivery_id = documented('The delivery that changed it last.')

/** Something that changed since the last approval of a closed period. */
export const CAUSE: JsonSchema = {
  description:
    'Something that changed since the last approval: a record, what is known of a customer, an exchange rate or a setting.',
  anyOf: [
    object({
      kind: kind('record'),
      resource: documented(
        'The resource of the record.',
        oneOf('customers', 'transactions', 'trading-activity', 'activities'),
      ),
      id: documented('The id of the record.'),
      customer_id,
      day: documented('The day on which it lies now.', DAY),
      delivery_id,
    }),
    object({
      kind: kind('affiliation'),
      customer_id,
      day: documented(
        'The day from which the affiliate holds. Null for a correction.',
        orNull(DAY),
      ),
      delivery_id: documented('The delivery. Null for a correction.', orNull(TEXT)),
      audit_id: documented('The entry of the audit log. Null for a delivery.', orNull(TEXT)),
    }),
    object({ kind: kind('corrected_early'), customer_id, delivery_id }),
    object({
      kind: kind('customer_field'),
      customer_id,
      field: documented('The field.'),
      day: documented('The day from which its value holds.', DAY),
      delivery_id,
    }),
    object({ kind: kind('refusal'), customer_id, audit_id }),
    object({
      kind: kind('rate'),
      currency: documented('The currency.'),
      day: documented('The day of the rate.', DAY),
      change: documented('Whether it replaced another rate.', oneOf('published', 'corrected')),
    }),
    object({
      kind: kind('tree'),
      affiliate_id: documented('The affiliate that was configured, or whose parent changed.'),
      audit_id,
    }),
    object({
      kind: kind('setting'),
      action: documented('The action in the audit log, such as `status.put`.'),
      at: documented('When it was changed.', TIME),
      audit_id,
    }),
  ],
}

/** The causes of an adjustment. */
export const CAUSES = {
  causes: documented(
    `The records and settings that changed since the last approval; the first ${CAUSE_LIMITS.listed}.`,
    { type: 'array', items: CAUSE },
  ),
  causes_total: documented(
    `The number of causes. It counts up to ${CAUSE_LIMITS.counted.toLocaleString('en')}.`,
    COUNT,
  ),
} satisfies Record<string, JsonSchema>
