import {
  ALL_EVENTS,
  EVENT_TYPES,
  POSTBACK_EVENTS,
  RETURNED_EVENT,
  TEST_EVENT,
} from '../../../src/webhooks/events.ts'
import { documented, object } from '../envelopes.ts'
import type { JsonSchema } from '../types.ts'

const TIME: JsonSchema = { type: 'string', format: 'date-time' }
const TIME_OR_NULL: JsonSchema = { type: ['string', 'null'], format: 'date-time' }
const COUNT: JsonSchema = { type: 'integer', minimum: 0 }
const TYPE = documented('The type of the event.', { enum: [...EVENT_TYPES, TEST_EVENT] })

const webhook = {
  id: documented('The id of the webhook.'),
  url: documented('Where events are sent.'),
  events: documented('The types of events that are sent; `*` stands for all.', {
    type: 'array',
    items: { enum: [...EVENT_TYPES, ALL_EVENTS] },
  }),
  description: documented('What the webhook is for.', { type: ['string', 'null'] }),
  disabled: documented('Whether nothing is sent.', { type: 'boolean' }),
  disabled_reason: documented(
    '`team`: the team disabled it. `gone`: it answered 410. `failing`: all attempts of three days failed.',
    { enum: ['team', 'gone', 'failing', null] },
  ),
  failing_since: documented(
    'The first failed attempt after the last success. Null if the last attempt succeeded.',
    TIME_OR_NULL,
  ),
  previous_secret_until: documented(
    'Until when events are also signed with a previous secret. Null if they are not.',
    TIME_OR_NULL,
  ),
  created_at: TIME,
}

const secret = documented('The secret that signs events. It is shown only in this response.', {
  type: 'string',
  pattern: '^whsec_[A-Za-z0-9+/]{43}=$',
})

const postback = {
  id: documented('The id of the postback.'),
  url: documented('Where events are sent, with its macros.'),
  method: documented('How they are sent. It never changes.', { enum: ['GET', 'POST'] }),
  events: documented('The types of events that are sent.', {
    type: 'array',
    items: { enum: [...POSTBACK_EVENTS] },
  }),
  disabled: documented('Whether nothing is sent.', { type: 'boolean' }),
  disabled_reason: documented(
    '`affiliate`: the affiliate has paused it. `firm`: the firm has. `gone`: it answered 410. `failing`: all attempts of three days failed.',
    { enum: ['affiliate', 'firm', 'gone', 'failing', null] },
  ),
  failing_since: webhook.failing_since,
  created_at: TIME,
}

/** Describes an attempt to send an event of some types. */
const attempt = (types: readonly string[]): JsonSchema =>
  object({
    id: documented('The id of the attempt.'),
    at: documented('When it began.', TIME),
    event_id: documented('The event, which is the `webhook-id` of the request.'),
    type: documented('The type of the event. Null if the event has expired.', {
      enum: [...types, TEST_EVENT, null],
    }),
    attempt: documented('The number of the attempt, from 1.', { type: 'integer', minimum: 1 }),
    status: documented('The status of the response. Null without one.', {
      type: ['integer', 'null'],
    }),
    ms: documented('How long the attempt took, in milliseconds.', COUNT),
    error: documented('Why it failed. Null after a success.', {
      enum: [
        'timeout',
        'connection_failed',
        'redirect',
        'http_status',
        'url_not_allowed',
        'no_secret',
        null,
      ],
    }),
    next_attempt_at: documented(
      'When the next attempt is due: after the pause of the schedule, or later if `Retry-After` of the response asks for it. Null unless this is the latest attempt of a pending event.',
      TIME_OR_NULL,
    ),
  })

/** The schemas of webhooks, by the names of their components. */
export const WEBHOOK_SCHEMAS: Record<string, JsonSchema> = {
  Webhook: object(webhook),
  NewWebhook: object({ ...webhook, secret }),
  RotatedWebhook: object({
    id: webhook.id,
    secret,
    previous_secret_until: webhook.previous_secret_until,
  }),
  WebhookAttempt: attempt(EVENT_TYPES),
  Postback: object(postback),
  NewPostback: object({
    ...postback,
    secret: documented(
      'The secret that signs the requests of a POST postback. It is shown only in this response. Null: GET.',
      { type: ['string', 'null'], pattern: '^whsec_[A-Za-z0-9+/]{43}=$' },
    ),
  }),
  PostbackAttempt: attempt([...POSTBACK_EVENTS, RETURNED_EVENT]),
  WebhookEvent: object({
    event_id: documented('The id of the event, which is the `webhook-id` of its requests.'),
    type: TYPE,
    timestamp: documented('When the event was caused.', TIME),
    status: documented(
      '`pending`: it is sent, or sent again. `delivered`: an attempt succeeded. `dead`: the last attempt failed, or the webhook was disabled.',
      { enum: ['pending', 'delivered', 'dead'] },
    ),
    attempts: documented('The attempts that have begun.', COUNT),
    next_attempt_at: documented(
      'When the next attempt is due. Null unless it is pending.',
      TIME_OR_NULL,
    ),
    data: documented('The data of the event. See `/schemas/v1/webhook-event.json`.', {
      type: 'object',
    }),
  }),
}
