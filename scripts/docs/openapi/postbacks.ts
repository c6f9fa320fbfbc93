import { newPostback, postbackChange } from '../../../src/admin/postback-fields.ts'
import { replayFields } from '../../../src/admin/webhook-fields.ts'
import type { ErrorCode } from '../../../src/errors.ts'
import { POSTBACK_EVENTS, RETURNED_EVENT, TEST_EVENT } from '../../../src/webhooks/events.ts'
import { WEBHOOK_LIMITS } from '../../../src/webhooks/limits.ts'
import { documented, object } from '../envelopes.ts'
import { closedObject } from '../json-schema.ts'
import type { JsonSchema } from '../types.ts'
import { AT, COUNT, NO_CONTENT, returned } from './administration/operation.ts'
import { derivedSchemas } from './derived.ts'
import { listOf, type Operation, PAGE_HEADERS, PAGING, pageOf, ref } from './operation.ts'

// The operations of affiliates on their postbacks.

const { Postback, WebhookAttempt } = derivedSchemas() as Record<
  string,
  { properties: Record<string, JsonSchema> }
>

/** The schemas that only affiliates see, by the names of their components. */
export const POSTBACK_SCHEMAS: Record<string, JsonSchema> = {
  NewPostback: object({
    ...Postback!.properties,
    secret: documented(
      'The secret that signs the requests of a POST postback. It is shown only in this response. Null: GET.',
      { type: ['string', 'null'], pattern: '^whsec_[A-Za-z0-9+/]{43}=$' },
    ),
  }),
  PostbackAttempt: object({
    ...WebhookAttempt!.properties,
    type: documented('The type of the event. Null if the event has expired.', {
      enum: [...POSTBACK_EVENTS, RETURNED_EVENT, TEST_EVENT, null],
    }),
  }),
}

const POSTBACKS = '/affiliate/v1/postbacks'
const POSTBACK = `${POSTBACKS}/{postback_id}`

type Draft = Pick<Operation, 'method' | 'path' | 'id' | 'summary' | 'description' | 'answers'> &
  Partial<Operation>

/** Completes an operation of affiliates: its path parameters and its errors. */
function operation({
  path,
  method,
  body,
  parameters = [],
  errors = [],
  ...draft
}: Draft): Operation {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const codes: readonly ErrorCode[] = [
    'invalid_query',
    ...(names.length > 0 ? (['not_found'] as const) : []),
    ...(body ? (['unsupported_media_type'] as const) : []),
    ...(body ? (['malformed_json', 'payload_too_large', 'validation_failed'] as const) : []),
    ...errors,
  ]
  return {
    tag: 'affiliate-tools',
    caller: 'affiliate',
    ...draft,
    ...{ method, path, parameters: [...names, ...parameters], errors: codes },
    ...(body && { body: { required: true, ...body } }),
  }
}

const accepted = (description: string, name: string, schema: object) => ({
  202: { description, schema: object({ [name]: documented(description, { ...schema }) }) },
})

/** Lists the operations of affiliates on their postbacks. */
export const postbacks = (): Operation[] => [
  operation({
    method: 'get',
    path: POSTBACKS,
    id: 'listPostbacks',
    summary: 'List postbacks',
    description: 'Lists the postbacks of the affiliate, the oldest first, without their secrets.',
    answers: returned('The postbacks.', listOf(ref('Postback'))),
  }),
  operation({
    method: 'post',
    path: POSTBACKS,
    id: 'createPostback',
    summary: 'Create a postback',
    description: `Creates a postback: from now on, what happens to the affiliate’s customers and commission is sent to its URL, once for each cause. What happened before is not sent. The secret of a POST postback is shown only once. An affiliate has at most ${WEBHOOK_LIMITS.postbacks} postbacks.`,
    body: { schema: closedObject(newPostback, AT) },
    answers: {
      201: { description: 'The postback with its secret.', schema: ref('NewPostback') },
    },
    errors: ['conflict'],
  }),
  operation({
    method: 'patch',
    path: POSTBACK,
    id: 'changePostback',
    summary: 'Change a postback',
    description:
      'Changes the URL or the types of events, or pauses a postback or lets it go on. Omitted members keep their values. Only the firm ends a pause of the firm.',
    body: { schema: closedObject(postbackChange, AT), required: false },
    answers: returned('The changed postback.', ref('Postback')),
    errors: ['conflict'],
  }),
  operation({
    method: 'delete',
    path: POSTBACK,
    id: 'deletePostback',
    summary: 'Delete a postback',
    description: 'Deletes a postback. Nothing more is sent to it, not even what is pending.',
    answers: NO_CONTENT,
  }),
  operation({
    method: 'post',
    path: `${POSTBACK}/test`,
    id: 'testPostback',
    summary: 'Send a test event',
    description:
      'Sends an event of the type `webhook.test` with invented values. `GET …/attempts` shows what the tracker answered.',
    body: { schema: closedObject({}, AT), required: false },
    answers: accepted('The id of the event that is sent.', 'event_id', { type: 'string' }),
    errors: ['conflict'],
  }),
  operation({
    method: 'post',
    path: `${POSTBACK}/replay`,
    id: 'replayPostback',
    summary: 'Send events again',
    description:
      'Sends one event again, or the events of causes in a span, at most 10,000: also those that another postback of the affiliate was sent and this one was not. They keep their ids. Pending events are left out.',
    body: { schema: closedObject(replayFields, AT) },
    answers: accepted('The number of events that are sent again.', 'replayed', COUNT),
    errors: ['conflict'],
  }),
  operation({
    method: 'get',
    path: `${POSTBACK}/attempts`,
    id: 'listPostbackAttempts',
    summary: 'List the attempts of a postback',
    description: 'Lists the attempts of the last 30 days, the newest first.',
    parameters: [...PAGING, 'attempted_event', 'failed'],
    answers: {
      200: {
        description: 'One page of attempts.',
        schema: pageOf(ref('PostbackAttempt')),
        headers: PAGE_HEADERS.filter((name) => name !== 'x-d1-bookmark'),
      },
    },
  }),
]
