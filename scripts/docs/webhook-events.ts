import { NOTICE_KINDS } from '../../src/platform/directory/outbox.ts'
import { EVENT_TYPES, TEST_EVENT } from '../../src/webhooks/events.ts'
import { documented, object } from './envelopes.ts'
import { EXPLAINED } from './explained.ts'
import type { JsonSchema } from './types.ts'

// The bodies of webhooks. The guide says when an event is sent, and has an example of its data.

const TEXT: JsonSchema = { type: 'string' }
const COUNT: JsonSchema = { type: 'integer', minimum: 0 }
const DAY: JsonSchema = { type: 'string', format: 'date' }
const TIME: JsonSchema = { type: 'string', format: 'date-time' }

/** The members of `data`, by their names. */
const MEMBERS: Record<string, JsonSchema> = {
  delivery_id: documented(
    'The id of the delivery: `GET …/deliveries/{delivery_id}` has its errors.',
  ),
  resource: documented('The resource, such as `transactions`.'),
  received: documented('The number of records of the request.', COUNT),
  rejected: documented('The number of records that were rejected.', COUNT),
  not_stored: documented(
    'The number of valid records that were not stored, because others were rejected.',
    COUNT,
  ),
  errors_total: documented('The number of errors.', COUNT),
  codes: documented('The codes of the errors that the log keeps, at most 20.', {
    type: 'array',
    items: TEXT,
    maxItems: 20,
  }),
  day: documented('The day that the event is about.', DAY),
  last_delivery_at: documented('When the last delivery arrived. Null if none has.', {
    type: ['string', 'null'],
    format: 'date-time',
  }),
  late_since: documented('The `day` of `feed.late`.', DAY),
  statement_id: documented('The id of the statement.'),
  affiliate_id: documented('The affiliate.'),
  plan: documented('The plan.'),
  period: documented('The period: a month or a week of ISO 8601.'),
  currency: documented('The currency of the amounts.'),
  total: documented('The sum of lines, adjustments and manual entries.'),
  payable: documented('What the affiliate is to be paid.'),
  hash: documented('The hash of the statement: approve it with this hash.'),
  amount: documented('What was paid for the statement, or what is due again.'),
  reference: documented('The reference of the payment or of the return.'),
  payment: documented('The reference of the payment.'),
  paid_on: documented('The day of the payment.', DAY),
  returned_on: documented('The day on which the payment came back.', DAY),
  transfer_id: documented('The reference of the transfer.'),
  batch_id: documented('The batch of transfers.'),
  code: documented('The ISO 20022 code of the reason, or null.', { type: ['string', 'null'] }),
  reason: documented('Why it came back, or null.', { type: ['string', 'null'] }),
  manual_entry_id: documented('Only `manual`: the id of the entry.'),
  adjustments: documented('Only `correction`: the number of adjustments of the draft.', COUNT),
  application_id: documented(
    'The id of the application: `GET …/applications` has what was written.',
  ),
  proved: documented('Whether the address was proved.', { type: 'boolean' }),
  case_id: documented('The id of the case: `GET …/cases/{case_id}` has its figures and records.'),
  subject: documented(
    'Whom it is about: `affiliate_id`, `customer_id`, or the two `customer_ids` of a pair.',
    {
      oneOf: [
        object({ affiliate_id: TEXT }),
        object({ customer_id: TEXT }),
        object({ customer_ids: { type: 'array', items: TEXT, minItems: 2, maxItems: 2 } }),
      ],
    },
  ),
  rule: documented('The rule.'),
  version: documented('The version of the rule that found it last.', COUNT),
  kind: documented('The kind of the rule.'),
  severity: documented('How serious it is.', { enum: ['low', 'medium', 'high'] }),
  action: documented('`hold`: while it is open, the payouts of the affiliate are held.', {
    enum: ['flag', 'hold'],
  }),
  opened_for: documented('The first day on which the rule found something.', DAY),
  sentence: documented('What the rule found.'),
  decision: documented('What was decided.', { enum: ['confirmed', 'dismissed'] }),
  keep_hold: documented('Whether the payouts of the affiliate stay held.', { type: 'boolean' }),
  question_id: documented(
    'The id of the question: `GET …/questions/{question_id}` has its messages.',
  ),
  about: documented('What it is about.', { enum: ['statement', 'line', 'customer'] }),
  message: documented('The number of the message, from 1.', COUNT),
  webhook_id: documented('The id of the webhook.'),
  method: documented('How its payees are paid.'),
  execute_on: documented('When the bank executes it.', DAY),
  authors: documented('Who prepared it.', { type: 'array', items: TEXT }),
  ends_at: documented('Until when it can be confirmed.', TIME),
  notice_id: documented('The id of the notice.'),
  cause: documented('The id of what caused it.'),
  recipient: documented('Whom it is for, such as `affiliate:IB-07`. Null: an applicant.', {
    type: ['string', 'null'],
  }),
}

/** The members of notices. */
const OF_NOTICE = {
  kind: documented('What it says.', { enum: Object.keys(NOTICE_KINDS) }),
  affiliate_id: documented('Whom it is about, beside its recipient.', {
    type: ['string', 'null'],
  }),
}

/** The members that mean something else in an event. */
const OWN: Record<string, Record<string, JsonSchema>> = {
  'notice.affiliate': OF_NOTICE,
  'notice.team': OF_NOTICE,
  'notice.applicant': OF_NOTICE,
  'payee.changed': {
    version: documented('The version of the details.', COUNT),
    state: documented('Their state; `missing`: they were erased.', {
      enum: ['missing', 'entered', 'approved', 'returned', 'blocked'],
    }),
  },
  'batch.prepared': { total: documented('The sum of its transfers.') },
  'payout.paid': { amount: documented('The amount of the transfer.') },
  'payout.returned': { amount: documented('The amount of the transfer.') },
  'adjustment.created': {
    kind: documented(
      '`manual`: the team entered an amount. `correction`: a computation found that lines of closed periods differ from what was approved.',
      { enum: ['manual', 'correction'] },
    ),
    statement_id: documented('Only `correction`: the draft that has the adjustments.'),
    period: documented('Only `correction`: the period of the draft.'),
    amount: documented('The amount; of `correction` the sum of the adjustments of the draft.'),
  },
}

/** The members of `adjustment.created` that only entries, or only corrections, have. */
const SOMETIMES = ['manual_entry_id', 'statement_id', 'period', 'adjustments']

const TYPES = [...EVENT_TYPES, TEST_EVENT]

/** Returns the example of the data of an event, which is the last cell of its row in the guide. */
const dataOf = (type: string): object =>
  JSON.parse(EXPLAINED.event[type]?.at(-1)?.replaceAll('`', '') ?? '{}')

function dataSchema(type: string): JsonSchema {
  const optional = type === 'adjustment.created' ? SOMETIMES : []
  const names = [...new Set([...Object.keys(dataOf(type)), ...optional])]
  const members = names.map((name) => {
    const member = OWN[type]?.[name] ?? MEMBERS[name]
    if (!member) throw new Error(`scripts/docs/webhook-events.ts does not describe ${name}.`)
    return [name, member] as const
  })
  return object(Object.fromEntries(members), optional)
}

const bodySchema = (type: string): JsonSchema => ({
  title: type,
  description: EXPLAINED.event[type]?.[0],
  ...object({
    type: { const: type },
    timestamp: documented('When the event occurred.', TIME),
    data: dataSchema(type),
  }),
})

/** Returns the schema of the body of any event, with an example of each type. */
export const eventSchema = (): JsonSchema => ({
  title: 'Webhook event',
  description: 'The body of a request that a webhook sends.',
  oneOf: TYPES.map(bodySchema),
  examples: TYPES.map((type) => ({
    type,
    timestamp: '2026-10-05T09:00:00.000Z',
    data: dataOf(type),
  })),
})
