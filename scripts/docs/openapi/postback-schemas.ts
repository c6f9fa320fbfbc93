import { POSTBACK_EVENTS, RETURNED_EVENT, TEST_EVENT } from '../../../src/webhooks/events.ts'
import { documented, object } from '../envelopes.ts'
import type { JsonSchema } from '../types.ts'
import { derivedSchemas } from './derived.ts'

const TIME: JsonSchema = { type: 'string', format: 'date-time' }

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
  failing_since: documented(
    'The first failed attempt after the last success. Null if the last attempt succeeded.',
    { type: ['string', 'null'], format: 'date-time' },
  ),
  created_at: TIME,
}

const { properties: attempt } = derivedSchemas().WebhookAttempt as {
  properties: Record<string, JsonSchema>
}

/** The schemas of postbacks, by the names of their components. */
export const POSTBACK_SCHEMAS: Record<string, JsonSchema> = {
  Postback: object(postback),
  NewPostback: object({
    ...postback,
    secret: documented(
      'The secret that signs the requests of a POST postback. It is shown only in this response. Null: GET.',
      { type: ['string', 'null'], pattern: '^whsec_[A-Za-z0-9+/]{43}=$' },
    ),
  }),
  PostbackAttempt: object({
    ...attempt,
    type: documented('The type of the event. Null if the event has expired.', {
      enum: [...POSTBACK_EVENTS, RETURNED_EVENT, TEST_EVENT, null],
    }),
  }),
}
