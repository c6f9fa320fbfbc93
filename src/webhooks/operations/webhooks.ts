import * as v from 'valibot'
import { list, operation } from '../../platform/http/operation.ts'
import { validationFailed } from '../../platform/http/read-fields.ts'
import { DEFAULT_OVERLAP, overlap, overlapEnd } from '../../platform/overlap.ts'
import { count, time } from '../../platform/validation/answer-fields.ts'
import {
  component,
  described,
  listOf,
  named,
  withMembers,
} from '../../platform/validation/described.ts'
import { member, nullable, optional, said } from '../../platform/validation/fields.ts'
import { urlProblem } from '../check-url.ts'
import type { EndpointRow } from '../db/endpoints.ts'
import { ALL_EVENTS, EVENT_TYPES, type EventType } from '../events.ts'
import * as hooks from '../manage.ts'
import { ATTEMPT_ERRORS } from '../send-batch.ts'
import { eventType, newWebhook, replayFields, webhookChange } from './webhook-fields.ts'

/** Returns a webhook as the team sees it. */
const present = (row: EndpointRow) => ({
  ...hooks.presentEndpoint<EventType | typeof ALL_EVENTS>(row),
  description: row.description,
  disabled_reason: row.disabled,
  previous_secret_until: hooks.previousSecretUntil(row),
})

/** Returns a URL as it is stored. Throws `validation_failed` if events must not be sent to it. */
function readUrl(env: Env, url: string): string {
  const expected = urlProblem(url, env)
  if (expected === null) return new URL(url).href
  throw validationFailed([{ pointer: '/url', code: 'pattern', expected, value: url }])
}

const webhook_id = member(v.string(), said('The id of the webhook.', 'whk_4f8Kd02LmQzX7vBn1TcY5s'))

const previous_secret_until = described(() =>
  nullable(time, 'Until when events are also signed with a previous secret. Null if they are not.'),
)

/** Since when the attempts of a webhook or a postback have failed. */
export const failing_since = described(() =>
  nullable(
    time,
    'The first failed attempt after the last success. Null if the last attempt succeeded.',
  ),
)

const webhook = component('Webhook', () => ({
  id: webhook_id,
  url: member(v.string(), 'Where events are sent.'),
  events: member(v.array(eventType), 'The types of events that are sent; `*` stands for all.'),
  description: nullable(v.string(), 'What the webhook is for.'),
  disabled: member(v.boolean(), 'Whether nothing is sent.'),
  disabled_reason: nullable(
    v.picklist(['team', 'gone', 'failing']),
    '`team`: the team disabled it. `gone`: it answered 410. `failing`: all attempts of three days failed.',
  ),
  failing_since,
  previous_secret_until,
  created_at: time,
}))

/** The secret of a webhook or a postback. */
export const secret = described(() =>
  member(
    v.pipe(v.string(), v.regex(/^whsec_[A-Za-z0-9+/]{43}=$/)),
    'The secret that signs events. It is shown only in this response.',
  ),
)

const status = v.picklist(['pending', 'delivered', 'dead'])

/** What is told of an event that is sent to a webhook or a postback, and of its last attempt. */
export const sentEvent = described(() => ({
  event_id: member(v.string(), 'The id of the event, which is the `webhook-id` of its requests.'),
  timestamp: member(time, 'When the event was caused.'),
  status: member(
    status,
    '`pending`: it is sent, or sent again. `delivered`: an attempt succeeded. `dead`: the last attempt failed, or the webhook was disabled.',
  ),
  attempts: member(count, 'The attempts that have begun.'),
  attempted_at: nullable(time, 'When the last attempt began. Null before the first has ended.'),
  response_status: nullable(
    v.pipe(v.number(), v.integer()),
    'The status of its response. Null without one.',
  ),
  error: nullable(v.picklist(ATTEMPT_ERRORS), 'Why the last attempt failed. Null after a success.'),
  next_attempt_at: nullable(time, 'When the next attempt is due. Null unless it is pending.'),
}))

/** What is told of the answer to a test event. */
export const testAnswer = component('SentTest', () => ({
  response_status: sentEvent.response_status,
  error: sentEvent.error,
  body: member(v.string(), 'The first 200 characters of the answer.'),
}))

const event = component('WebhookEvent', () => ({
  ...sentEvent,
  type: member(v.picklist(EVENT_TYPES), 'The type of the event.'),
  data: member(
    v.record(v.string(), v.unknown()),
    'The data of the event. See `/schemas/v1/webhook-event.json`.',
  ),
}))

const ofWebhooks = { topic: 'webhooks', path: '/webhooks' } as const
const params = { webhook_id }
const ofWebhook = { topic: 'webhooks', path: '/webhooks/{webhook_id}', params } as const

export const createWebhook = operation({
  ...ofWebhooks,
  id: 'createWebhook',
  shows: 'account',
  method: 'POST',
  body: newWebhook,
  status: 201,
  words: described(() => ({
    description:
      'Creates a webhook: from now on, events of the account are sent to its URL, signed by the Standard Webhooks specification. The secret is shown only once. An account has at most 10 webhooks.',
    answer: named('NewWebhook', withMembers(webhook, { secret })),
    errors: ['conflict'],
    command: {
      name: 'webhooks create',
      secret: 'secret',
      recovery:
        'A secret may have been created and lost: run `webhooks list`, and first delete the unknown webhook.',
    },
  })),
  async run(call, { url, events = [ALL_EVENTS], description = null }) {
    const fields = { url: readUrl(call.env, url), method: 'POST' as const, events, description }
    const { row, secret } = await hooks.createEndpoint(call, fields)
    return { ...present(row), secret: secret ?? '' }
  },
})

export const listWebhooks = operation({
  ...ofWebhooks,
  id: 'listWebhooks',
  shows: 'account',
  method: 'GET',
  words: described(() => ({
    description: 'Lists the webhooks of an account, the oldest first, without their secrets.',
    answer: listOf(webhook),
    command: { name: 'webhooks list' },
  })),
  run: async (call) => ({ data: (await hooks.listEndpoints(call)).map(present) }),
})

export const getWebhook = operation({
  ...ofWebhook,
  id: 'getWebhook',
  shows: 'account',
  method: 'GET',
  words: described(() => ({
    description: 'Returns a webhook without its secret.',
    answer: webhook,
    command: { name: 'webhooks show' },
  })),
  run: async (call, { webhook_id: id }) => present(await hooks.findEndpoint(call, id)),
})

export const changeWebhook = operation({
  ...ofWebhook,
  id: 'changeWebhook',
  shows: 'account',
  method: 'PATCH',
  role: 'manager',
  body: webhookChange,
  words: described(() => ({
    description:
      'Changes the URL, the types of events or the description, or disables or enables a webhook. Omitted members keep their values.',
    answer: webhook,
    command: { name: 'webhooks change' },
  })),
  async run(call, { webhook_id: id, url, ...fields }) {
    await hooks.findEndpoint(call, id)
    const changed = { ...fields, ...(url !== undefined && { url: readUrl(call.env, url) }) }
    return present(await hooks.changeEndpoint(call, id, changed))
  },
})

export const deleteWebhook = operation({
  ...ofWebhook,
  id: 'deleteWebhook',
  shows: 'account',
  method: 'DELETE',
  role: 'manager',
  words: described(() => ({
    description: 'Deletes a webhook. Nothing more is sent to it, not even what is pending.',
    answer: null,
    command: {
      name: 'webhooks delete',
      done: 'Deleted webhook {webhook_id} of account {account}.',
    },
  })),
  async run(call, { webhook_id: id }) {
    await hooks.deleteEndpoint(call, id)
    return null
  },
})

export const rotateWebhook = operation({
  ...ofWebhook,
  path: `${ofWebhook.path}/rotate`,
  id: 'rotateWebhook',
  shows: 'account',
  method: 'POST',
  body: { overlap },
  status: 201,
  words: described(() => ({
    description:
      'Creates a new secret. For 24 hours, unless `overlap` sets another time, each request has two signatures: one of the new secret and one of the previous one. With `none` only the new one signs.',
    answer: component('RotatedWebhook', () => ({ id: webhook_id, secret, previous_secret_until })),
    command: {
      name: 'webhooks rotate',
      secret: 'secret',
      confirm: {
        warning:
          'Without an overlap, receivers that know only the old secret of webhook {webhook_id} refuse its events at once.',
        name: 'webhook_id',
        if: { overlap: 'none' },
      },
      recovery:
        'A secret may have been created and lost: rotate again. The secret before it signs until its overlap ends.',
    },
  })),
  async run(call, { webhook_id: id, overlap: length = DEFAULT_OVERLAP }) {
    const until = length === 'none' ? null : overlapEnd(length, Date.now())
    return hooks.rotateEndpoint(call, id, { overlap: length, until })
  },
})

export const testWebhook = operation({
  ...ofWebhook,
  path: `${ofWebhook.path}/test`,
  id: 'testWebhook',
  shows: 'account',
  method: 'POST',
  role: 'manager',
  words: described(() => ({
    description:
      'Sends an event of the type `webhook.test` once, also while the webhook is disabled, and returns what the receiver answered. It is in no list of events.',
    answer: testAnswer,
    command: { name: 'webhooks test' },
  })),
  async run(call, { webhook_id: id }) {
    const row = await hooks.findEndpoint(call, id)
    const event = { id: hooks.newEventId(Date.now()), url: row.url, data: { webhook_id: id } }
    return hooks.tryEndpoint(call, row, event)
  },
})

export const replayWebhook = operation({
  ...ofWebhook,
  path: `${ofWebhook.path}/replay`,
  id: 'replayWebhook',
  shows: 'account',
  method: 'POST',
  role: 'manager',
  body: replayFields,
  status: 202,
  words: described(() => ({
    description:
      'Sends one event of the last 30 days again, or all dead letters. They keep their `webhook-id`.',
    answer: v.object({ replayed: member(count, 'The number of events that are sent again.') }),
    errors: ['conflict'],
    command: {
      name: 'webhooks replay',
      recovery: 'Run `webhooks events` before you repeat the command: they may be sent.',
    },
  })),
  async run(call, { webhook_id: id, event_id = null }) {
    return { replayed: await hooks.replayEndpoint(call, id, event_id) }
  },
})

/** By what a list of events is narrowed. */
export const statusFilter = {
  status: optional(status, said('Returns only the events with this status.', 'dead')),
}

export const listWebhookEvents = list({
  ...ofWebhook,
  path: `${ofWebhook.path}/events`,
  id: 'listWebhookEvents',
  shows: 'account',
  params: { webhook_id, ...statusFilter },
  words: described(() => ({
    description:
      'Lists the events of the last 30 days, the newest first, each with its last attempt: what is pending, delivered, or a dead letter.',
    answer: event,
    command: { name: 'webhooks events' },
  })),
  async list(call, { webhook_id: id, status: only = null }, page) {
    const found = await hooks.readMessages<EventType>(call, id, only, page)
    const data = found.data.map((one) => ({ ...one, data: JSON.parse(one.data) }))
    return { ...found, data }
  },
})

/** The operations on webhooks. A secret is shown only once, when it is created. */
export const WEBHOOK_OPERATIONS = [
  createWebhook,
  listWebhooks,
  getWebhook,
  changeWebhook,
  deleteWebhook,
  rotateWebhook,
  testWebhook,
  replayWebhook,
  listWebhookEvents,
]
