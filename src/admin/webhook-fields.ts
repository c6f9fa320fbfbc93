import * as v from 'valibot'
import * as f from '../validation/fields.ts'
import { describeField, documentation } from '../validation/fields.ts'
import { ALL_EVENTS, EVENT_TYPES } from '../webhooks/events.ts'

// The fields of request bodies about webhooks.

/** A type of events, or `*` for all. */
export const eventType = f.oneOf(...EVENT_TYPES, ALL_EVENTS)

const events = v.pipe(
  v.array(eventType),
  v.minLength(1, 'pattern at least one type of event'),
  v.checkItems((type, i, all) => all.indexOf(type) === i, 'duplicate listed'),
)

const description = v.nullable(
  describeField(f.text, documentation('What the webhook is for.', 'Alerts of the finance team')),
)

/** The fields of a new webhook. */
export const newWebhook = {
  url: describeField(
    f.textOf(2000),
    documentation(
      'Where events are sent: an `https://` URL on port 443, or on a port from 1024 on, with a host name of the public internet.',
      'https://hooks.acme.example/tributary',
    ),
  ),
  events: v.optional(
    describeField(
      events,
      documentation(
        'The types of events to send; `*` stands for all, also those of later versions. Defaults to `["*"]`.',
        ['delivery.refused', 'statement.ready'],
      ),
    ),
  ),
  description: v.optional(description),
}

/** The fields of a webhook that can change. */
export const webhookChange = {
  url: v.optional(newWebhook.url),
  events: newWebhook.events,
  description: v.optional(description),
  disabled: v.optional(
    describeField(
      v.boolean(),
      documentation(
        'Whether the webhook is disabled. Events that are caused meanwhile are not sent to it, and pending ones become dead letters. Enabling it also ends its failures.',
      ),
    ),
  ),
}

/** The fields of a replay: one event, or a span. */
export const replayFields = {
  event_id: v.optional(
    describeField(
      f.text,
      documentation('The event to send again.', 'evt_019a0c5b3d0c4b1f6a7d2e9b3c'),
    ),
  ),
  from: v.optional(
    describeField(f.instant, documentation('The begin of the span.', '2026-11-01T00:00:00.000Z')),
  ),
  to: v.optional(
    describeField(
      f.instant,
      documentation('The end of the span, exclusive. Defaults to now.', '2026-11-02T00:00:00.000Z'),
    ),
  ),
  only_dead: v.optional(
    describeField(
      v.boolean(),
      documentation(
        'Whether only dead letters of the span are sent again. Defaults to `false`: all events of the span that the webhook wants.',
      ),
    ),
  ),
}
