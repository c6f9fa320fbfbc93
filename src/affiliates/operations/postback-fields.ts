import * as v from 'valibot'
import * as f from '../../platform/validation/fields.ts'
import { member, said } from '../../platform/validation/fields.ts'
import { POSTBACK_EVENTS } from '../../webhooks/events.ts'
import { readMacros } from '../../webhooks/macros.ts'

// The fields of request bodies about postbacks.

const url = member(
  v.pipe(f.textOf(2000), v.transform(readMacros)),
  said(
    'Where events are sent: an `https://` URL as of webhooks. Behind its host it can have macros: `{event}`, `{id}`, `{link_id}`, `{sub1}` to `{sub5}`, `{customer}`, `{country}`, `{amount}`, `{currency}`, `{period}`, `{affiliate_id}` and `{time}`. Each stands for the percent-encoded value of the event, or for nothing. Encoded braces and other letter case are read as these.',
    'https://tracker.example/p?cid={sub1}&amt={amount}&cur={currency}&ev={event}&tx={id}',
  ),
)

const method = member(
  f.oneOf('GET', 'POST'),
  said(
    'GET: the URL alone has the values. POST: the body has them as JSON, signed as that of a webhook. It never changes. Defaults to `GET`.',
    'GET',
  ),
)

const events = member(
  v.pipe(
    v.array(f.oneOf(...POSTBACK_EVENTS)),
    v.minLength(1, 'pattern at least one type of event'),
    v.checkItems((type, i, all) => all.indexOf(type) === i, 'duplicate listed'),
  ),
  said('The types of events to send.', ['signup', 'commission.approved']),
)

const disabled = member(
  v.boolean(),
  said(
    'Whether the postback is paused. Events that are caused meanwhile are not sent to it, and pending ones become dead letters. Going on also ends its failures.',
    true,
  ),
)

/** The fields of a new postback. */
export const newPostback = { url, method: v.optional(method), events }

/** The fields of a postback that its affiliate can change. */
export const postbackChange = {
  url: v.optional(url),
  events: v.optional(events),
  disabled: v.optional(disabled),
}
