import * as v from 'valibot'
import * as f from '../../platform/validation/fields.ts'
import { member, nullable, optional, said } from '../../platform/validation/fields.ts'
import { ALL_EVENTS, EVENT_TYPES } from '../events.ts'

// The fields of request bodies about webhooks.

/** A type of events, or `*` for all. */
export const eventType = f.oneOf(...EVENT_TYPES, ALL_EVENTS)

const events = v.pipe(
  v.array(eventType),
  v.minLength(1, 'pattern at least one type of event'),
  v.checkItems((type, i, all) => all.indexOf(type) === i, 'duplicate listed'),
)

const description = nullable(f.text, said('What the webhook is for.', 'Alerts of the finance team'))

/** The fields of a new webhook. */
export const newWebhook = {
  url: member(
    f.textOf(2000),
    said(
      'Where events are sent: an `https://` URL on port 443, or on a port from 1024 on, with a host name of the public internet.',
      'https://hooks.acme.example/tributary',
    ),
  ),
  events: optional(
    events,
    said(
      'The types of events to send; `*` stands for all, also those of later versions. Defaults to `["*"]`.',
      ['delivery.refused', 'statement.ready'],
    ),
  ),
  description: v.optional(description),
}

/** The fields of a webhook that can change. */
export const webhookChange = {
  url: v.optional(newWebhook.url),
  events: newWebhook.events,
  description: v.optional(description),
  disabled: optional(
    v.boolean(),
    said(
      'Whether the webhook is disabled. Events that are caused meanwhile are not sent to it, and pending ones become dead letters. Enabling it also ends its failures.',
    ),
  ),
}

/** The fields of a replay. */
export const replayFields = {
  event_id: optional(
    f.text,
    said(
      'The event to send again. Without it, all dead letters are sent again.',
      'evt_019a0c5b3d0c4b1f6a7d2e9b3c',
    ),
  ),
}
