import { overlap } from '../../../../src/admin/overlap.ts'
import * as fields from '../../../../src/admin/webhook-fields.ts'
import { documented, object } from '../../envelopes.ts'
import { closedObject } from '../../json-schema.ts'
import { listOf, type Operation, PAGING, ref } from '../operation.ts'
import {
  ACCOUNT_PATH,
  AT,
  COUNT,
  created,
  NO_CONTENT,
  operation,
  paged,
  returned,
} from './operation.ts'

const WEBHOOKS = `${ACCOUNT_PATH}/webhooks`
const WEBHOOK = `${WEBHOOKS}/{webhook_id}`

const accepted = (description: string, name: string, schema: object) => ({
  202: { description, schema: object({ [name]: documented(description, { ...schema }) }) },
})

const management = (): Operation[] => [
  operation({
    method: 'post',
    path: WEBHOOKS,
    id: 'createWebhook',
    summary: 'Create a webhook',
    description:
      'Creates a webhook: from now on, events of the account are sent to its URL, signed by the Standard Webhooks specification. The secret is shown only once. An account has at most 10 webhooks.',
    body: { schema: closedObject(fields.newWebhook, AT) },
    answers: created('The webhook with its secret.', 'NewWebhook'),
    errors: ['conflict'],
  }),
  operation({
    method: 'get',
    path: WEBHOOKS,
    id: 'listWebhooks',
    summary: 'List webhooks',
    description: 'Lists the webhooks of an account, the oldest first, without their secrets.',
    answers: returned('The webhooks.', listOf(ref('Webhook'))),
  }),
  operation({
    method: 'get',
    path: WEBHOOK,
    id: 'getWebhook',
    summary: 'Get a webhook',
    description: 'Returns a webhook without its secret.',
    answers: returned('The webhook.', ref('Webhook')),
  }),
  operation({
    method: 'patch',
    path: WEBHOOK,
    id: 'changeWebhook',
    summary: 'Change a webhook',
    description:
      'Changes the URL, the types of events or the description, or disables or enables a webhook. Omitted members keep their values.',
    body: { schema: closedObject(fields.webhookChange, AT), required: false },
    answers: returned('The changed webhook.', ref('Webhook')),
  }),
  operation({
    method: 'delete',
    path: WEBHOOK,
    id: 'deleteWebhook',
    summary: 'Delete a webhook',
    description: 'Deletes a webhook. Nothing more is sent to it, not even what is pending.',
    answers: NO_CONTENT,
  }),
  operation({
    method: 'post',
    path: `${WEBHOOK}/rotate`,
    id: 'rotateWebhook',
    summary: 'Rotate the secret of a webhook',
    description:
      'Creates a new secret. For 24 hours, unless `overlap` sets another time, each request has two signatures: one of the new secret and one of the previous one. With `none` only the new one signs.',
    body: { schema: closedObject({ overlap }, AT), required: false },
    answers: created('The new secret.', 'RotatedWebhook'),
    errors: ['conflict'],
  }),
]

const sending = (): Operation[] => [
  operation({
    method: 'post',
    path: `${WEBHOOK}/test`,
    id: 'testWebhook',
    summary: 'Send a test event',
    description:
      'Sends an event of the type `webhook.test`. `GET …/attempts` shows what the receiver answered.',
    body: { schema: closedObject({}, AT), required: false },
    answers: accepted('The id of the event that is sent.', 'event_id', { type: 'string' }),
    errors: ['conflict'],
  }),
  operation({
    method: 'post',
    path: `${WEBHOOK}/replay`,
    id: 'replayWebhook',
    summary: 'Send events again',
    description:
      'Sends one event again, or the events that were caused in a span, at most 10,000: also those that another webhook was sent and this one was not. They keep their `webhook-id`. Pending events are left out.',
    body: { schema: closedObject(fields.replayFields, AT) },
    answers: accepted('The number of events that are sent again.', 'replayed', COUNT),
    errors: ['conflict'],
  }),
  operation({
    method: 'get',
    path: `${WEBHOOK}/attempts`,
    id: 'listWebhookAttempts',
    summary: 'List the attempts of a webhook',
    description: 'Lists the attempts of the last 30 days, the newest first.',
    parameters: [...PAGING, 'attempted_event', 'failed'],
    answers: paged('One page of attempts.', ref('WebhookAttempt')),
  }),
  operation({
    method: 'get',
    path: `${WEBHOOK}/events`,
    id: 'listWebhookEvents',
    summary: 'List the events of a webhook',
    description:
      'Lists the events of the last 30 days, the newest first: what is pending, delivered, or a dead letter.',
    parameters: [...PAGING, 'message_status'],
    answers: paged('One page of events.', ref('WebhookEvent')),
  }),
]

/** Lists the operations on webhooks. */
export const webhooks = (): Operation[] => [...management(), ...sending()]
