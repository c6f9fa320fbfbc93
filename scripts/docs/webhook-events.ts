import { EVENT_TYPES, TEST_EVENT } from '../../src/webhooks/events.ts'
import { documented, object } from './envelopes.ts'
import type { JsonSchema } from './types.ts'

// The bodies of webhooks, with an example of each type.

const TEXT: JsonSchema = { type: 'string' }
const COUNT: JsonSchema = { type: 'integer', minimum: 0 }
const DAY: JsonSchema = { type: 'string', format: 'date' }
const TIME: JsonSchema = { type: 'string', format: 'date-time' }
const SHARE: JsonSchema = { type: 'number', minimum: 0, maximum: 1 }

/** What an event of a type reports. */
interface EventDocumentation {
  /** When it is sent. */
  readonly description: string
  readonly data: JsonSchema
  readonly example: object
}

const statementOf = {
  statement_id: documented('The id of the statement.'),
  affiliate_id: documented('The affiliate of the statement.'),
  plan: documented('The plan of the statement.'),
  period: documented('The period: a month or a week of ISO 8601.'),
  currency: documented('The currency of the amounts.'),
}

const amounts = {
  total: documented('The sum of lines, adjustments and manual entries.'),
  payable: documented('What the affiliate is to be paid.'),
  hash: documented('The hash of the statement: approve it with this hash.'),
}

const STATEMENT = {
  statement_id: 'stm_3f1c52a9d0e84b7796c1d20b',
  affiliate_id: 'IB-07',
  plan: 'standard-ib',
  period: '2026-10',
  currency: 'EUR',
}

const AMOUNTS = { total: '1250.00', payable: '1250.00', hash: '3f1c52a9'.repeat(8) }

const RESOURCE = documented('The resource, such as `transactions`.')

const ADJUSTMENT: JsonSchema = object(
  {
    kind: documented(
      '`manual`: the team entered an amount. `correction`: a computation found that lines of closed periods differ from what was approved.',
      { enum: ['manual', 'correction'] },
    ),
    manual_entry_id: documented('Only `manual`: the id of the entry.'),
    statement_id: documented('Only `correction`: the draft that has the adjustments.'),
    affiliate_id: statementOf.affiliate_id,
    plan: statementOf.plan,
    period: documented('Only `correction`: the period of the draft.'),
    currency: documented('The currency of the amount.'),
    amount: documented('The amount; of `correction` the sum of the adjustments of the draft.'),
    adjustments: documented('Only `correction`: the number of adjustments of the draft.', COUNT),
  },
  ['manual_entry_id', 'statement_id', 'period', 'adjustments'],
)

const FEEDS: Record<string, EventDocumentation> = {
  'feed.late': {
    description:
      'Sent at 06:05 UTC if the activity of yesterday has not arrived by 06:00 UTC. It is not sent again until the feed has recovered.',
    data: object({
      resource: RESOURCE,
      day: documented('The day whose records are missing.', DAY),
      last_delivery_at: documented('When the last delivery arrived. Null if none has.', {
        type: ['string', 'null'],
        format: 'date-time',
      }),
    }),
    example: {
      resource: 'trading-activity',
      day: '2026-10-04',
      last_delivery_at: '2026-10-04T05:30:00.000Z',
    },
  },
  'feed.recovered': {
    description: 'Sent within a minute when records of the late day, or of a later one, arrive.',
    data: object({
      resource: RESOURCE,
      late_since: documented('The `day` of `feed.late`.', DAY),
    }),
    example: { resource: 'trading-activity', late_since: '2026-10-04' },
  },
}

const STATEMENTS: Record<string, EventDocumentation> = {
  'statement.ready': {
    description:
      'Sent when the first run that began after the end of a period is done: for each draft of the period, and again if a later run changes the draft. That run begins at the first 06:05 UTC after the end of the period in the time zone of the account, unless the team starts one before.',
    data: object({ ...statementOf, ...amounts }),
    example: { ...STATEMENT, ...AMOUNTS },
  },
  'statement.approved': {
    description: 'Sent when a statement is approved.',
    data: object({ ...statementOf, ...amounts }),
    example: { ...STATEMENT, ...AMOUNTS },
  },
  'statement.paid': {
    description: 'Sent when the payment of a statement is booked.',
    data: object({
      ...statementOf,
      amount: documented('What was paid for the statement.'),
      reference: documented('The reference of the payment.'),
      paid_on: documented('The day of the payment.', DAY),
    }),
    example: { ...STATEMENT, amount: '1250.00', reference: 'SEPA-1', paid_on: '2026-11-20' },
  },
  'statement.returned': {
    description:
      'Sent for each statement of a payment when it is booked that the payment came back: the statement is due again.',
    data: object({
      ...statementOf,
      amount: documented('What is due again for the statement.'),
      payment: documented('The reference of the payment.'),
      reference: documented('The reference of the return.'),
      returned_on: documented('The day on which the payment came back.', DAY),
    }),
    example: {
      ...STATEMENT,
      amount: '1250.00',
      payment: 'SEPA-1',
      reference: 'RET-1',
      returned_on: '2026-11-24',
    },
  },
}

const caseOf = {
  case_id: documented('The id of the case: `GET …/cases/{case_id}` has its figures and records.'),
  affiliate_id: documented('The affiliate whose customers it is about.'),
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
}

const CASE = {
  case_id: 'case_5w1j8h3k7q2m9r4t6v0x1y3z5a',
  affiliate_id: 'IB-07',
  subject: { affiliate_id: 'IB-07' },
  rule: 'minimum-deposit',
  version: 1,
  kind: 'minimum_deposit',
  severity: 'high',
  action: 'hold',
  opened_for: '2026-10-04',
  sentence: '12 of 15 customers who qualified deposited the minimum and stopped.',
}

const CASES: Record<string, EventDocumentation> = {
  'case.opened': {
    description:
      'Sent when the fraud review opens a case, and again when one that had expired has new records.',
    data: object(caseOf),
    example: CASE,
  },
  'case.decided': {
    description: 'Sent when the team has decided a case.',
    data: object({
      ...caseOf,
      decision: documented('What was decided.', { enum: ['confirmed', 'dismissed'] }),
      keep_hold: documented('Whether the payouts of the affiliate stay held.', { type: 'boolean' }),
    }),
    example: { ...CASE, decision: 'confirmed', keep_hold: true },
  },
}

/** The types of events in the order in which they are documented. */
export const EVENT_DOCUMENTATION: Record<string, EventDocumentation> = {
  'delivery.refused': {
    description:
      'Sent when records of a delivery are refused: a part of them, or all. Requests whose body could not be read are not in the log of deliveries and send nothing.',
    data: object({
      delivery_id: documented(
        'The id of the delivery: `GET …/deliveries/{delivery_id}` has its errors.',
      ),
      resource: RESOURCE,
      received: documented('The number of records of the request.', COUNT),
      refused: documented('The number of records that were not stored.', COUNT),
      errors_total: documented('The number of errors.', COUNT),
      codes: documented('The codes of the errors that the log keeps, at most 20.', {
        type: 'array',
        items: TEXT,
        maxItems: 20,
      }),
    }),
    example: {
      delivery_id: 'dlv_01M7W0R4W8E3V15G8XPED3Z94X',
      resource: 'transactions',
      received: 250,
      refused: 2,
      errors_total: 3,
      codes: ['currency', 'unknown_customer'],
    },
  },
  ...FEEDS,
  'customer.unattributed': {
    description:
      "Sent at 06:05 UTC if the share of yesterday's new customers without an affiliate is above the `unattributed_threshold` of the account.",
    data: object({
      day: documented('The day of the signups.', DAY),
      customers: documented('The new customers of the day.', COUNT),
      unattributed: documented('Those of them without an affiliate and without a link.', COUNT),
      share: documented('Their share.', SHARE),
      threshold: documented('The `unattributed_threshold` of the account.', SHARE),
    }),
    example: { day: '2026-10-04', customers: 40, unattributed: 12, share: 0.3, threshold: 0.2 },
  },
  ...STATEMENTS,
  'adjustment.created': {
    description:
      'Sent when the team enters an amount, when a computation finds adjustments of closed periods, and again when they change.',
    data: ADJUSTMENT,
    example: {
      kind: 'manual',
      manual_entry_id: 'man_01M7W0R4W8E3V15G8XPED3Z94X',
      affiliate_id: 'IB-07',
      plan: 'standard-ib',
      currency: 'EUR',
      amount: '50.00',
    },
  },
  ...CASES,
  'question.asked': {
    description: 'Sent when an affiliate asks a question, and when they write more about it.',
    data: object({
      question_id: documented(
        'The id of the question: `GET …/questions/{question_id}` has its messages.',
      ),
      affiliate_id: documented('The affiliate who asks.'),
      about: documented('What it is about.', { enum: ['statement', 'line', 'customer'] }),
      message: documented('The number of the message, from 1.', COUNT),
    }),
    example: {
      ...{ question_id: 'qst_01M7W0R4W8E3V15G8XPED3Z94X', affiliate_id: 'IB-07' },
      ...{ about: 'line', message: 1 },
    },
  },
  'credential.expiring': {
    description:
      'Sent within ten minutes when a previous client secret or Brand Token ends within 24 hours.',
    data: object({
      kind: documented('The kind of the credential.', {
        enum: ['client_secret', 'brand_token', 'affiliate_key'],
      }),
      id: documented('The id of the client, or of the Brand Token. It is not the credential.'),
      ends_at: documented('When the credential stops working.', TIME),
    }),
    example: {
      kind: 'client_secret',
      id: 'e0f1a5a2-7b0c-4b1e-9d55-2f6c1f0f8a11',
      ends_at: '2026-10-06T09:00:00.000Z',
    },
  },
  [TEST_EVENT]: {
    description: 'Sent only on request, to the webhook that is tested.',
    data: object({ webhook_id: documented('The id of the webhook.') }),
    example: { webhook_id: 'whk_4f8Kd02LmQzX7vBn1TcY5s' },
  },
}

const TYPES = [...EVENT_TYPES, TEST_EVENT]

const documentationOf = (type: string): EventDocumentation => {
  const found = EVENT_DOCUMENTATION[type]
  if (!found) throw new Error(`scripts/docs/webhook-events.ts does not describe ${type}.`)
  return found
}

const bodySchema = (type: string): JsonSchema => {
  const { description, data } = documentationOf(type)
  return {
    title: type,
    description,
    ...object({
      type: { const: type },
      timestamp: documented('When the event occurred.', TIME),
      data,
    }),
  }
}

/** Returns an example of the body of an event. */
export const eventExample = (type: string): object => ({
  type,
  timestamp: '2026-10-05T09:00:00.000Z',
  data: documentationOf(type).example,
})

/** Returns the schema of the body of any event, with an example of each type. */
export const eventSchema = (): JsonSchema => ({
  title: 'Webhook event',
  description: 'The body of a request that a webhook sends.',
  oneOf: TYPES.map(bodySchema),
  examples: TYPES.map(eventExample),
})
