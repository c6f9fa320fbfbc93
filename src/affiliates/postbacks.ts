import * as v from 'valibot'
import { type Call, list, operation } from '../platform/http/operation.ts'
import { validationFailed } from '../platform/http/read-fields.ts'
import { count } from '../platform/validation/answer-fields.ts'
import {
  component,
  described,
  listOf,
  named,
  withMembers,
} from '../platform/validation/described.ts'
import { member } from '../platform/validation/fields.ts'
import {
  POSTBACK_EVENTS,
  type PostbackEvent,
  RETURNED_EVENT,
  TEST_EVENT,
} from '../webhooks/events.ts'
import { WEBHOOK_LIMITS } from '../webhooks/limits.ts'
import { macroProblem } from '../webhooks/macros.ts'
import * as hooks from '../webhooks/manage.ts'
import { replayFields } from '../webhooks/operations/webhook-fields.ts'
import { secret, sentEvent, statusFilter, testAnswer } from '../webhooks/operations/webhooks.ts'
import { postback, postback_id, presentPostback } from './operations/affiliate-postbacks.ts'
import { newPostback, postbackChange } from './operations/postback-fields.ts'
import { filledUrl } from './postback-address.ts'
import { skipQualified } from './postback-causes.ts'

/** Returns what a change needs to know. */
const changeOf = ({ env, actor, affiliate }: Call<'affiliate'>) => ({
  env,
  actor,
  account: affiliate.account,
  affiliate_id: affiliate.id,
})

/** Throws `validation_failed` if events must not be sent to a URL. */
function checkUrl(env: Env, url: string | undefined): void {
  const expected = url === undefined ? null : macroProblem(url, env)
  if (expected === null) return
  throw validationFailed([{ pointer: '/url', code: 'pattern', expected, value: url }])
}

/** Leaves out who has qualified so far if these events include that, so that only later ones are sent. */
async function skipEarlier({ env, affiliate }: Call<'affiliate'>, events: readonly string[]) {
  if (!events.includes('qualified')) return
  await skipQualified(env, affiliate.account, affiliate.id, Date.now())
}

const topic = 'affiliate-tools'
const ofPostbacks = { of: 'affiliate', topic, path: '/postbacks' } as const
const params = { postback_id }
const ofPostback = { of: 'affiliate', topic, path: '/postbacks/{postback_id}', params } as const

export const listPostbacks = operation({
  ...ofPostbacks,
  id: 'listPostbacks',
  method: 'GET',
  words: described(() => ({
    description: 'Lists the postbacks of the affiliate, the oldest first, without their secrets.',
    answer: listOf(postback),
  })),
  run: async (call) => ({
    data: (await hooks.listEndpoints(changeOf(call))).map(presentPostback),
  }),
})

export const createPostback = operation({
  ...ofPostbacks,
  id: 'createPostback',
  method: 'POST',
  body: newPostback,
  status: 201,
  words: described(() => ({
    description: `Creates a postback: from now on, what happens to the affiliate’s customers and commission is sent to its URL, once for each cause. What happened before is not sent. The secret of a POST postback is shown only once. An affiliate has at most ${WEBHOOK_LIMITS.postbacks} postbacks.`,
    answer: named('NewPostback', withMembers(postback, { secret: v.nullable(secret) })),
    errors: ['conflict'],
  })),
  async run(call, { url, method = 'GET', events }) {
    checkUrl(call.env, url)
    await skipEarlier(call, events)
    const fields = { url, method, events, description: null }
    const { row, secret } = await hooks.createEndpoint(changeOf(call), fields)
    return { ...presentPostback(row), secret }
  },
})

export const changePostback = operation({
  ...ofPostback,
  id: 'changePostback',
  method: 'PATCH',
  body: postbackChange,
  words: described(() => ({
    description:
      'Changes the URL or the types of events, or pauses a postback or lets it go on. Omitted members keep their values.',
    answer: postback,
  })),
  async run(call, { postback_id: id, ...fields }) {
    const stored = await hooks.findEndpoint(changeOf(call), id)
    checkUrl(call.env, fields.url)
    const { disabled, events = JSON.parse(stored.events) } = fields
    if (disabled === false || fields.events !== undefined) await skipEarlier(call, events)
    return presentPostback(await hooks.changeEndpoint(changeOf(call), id, fields))
  },
})

export const deletePostback = operation({
  ...ofPostback,
  id: 'deletePostback',
  method: 'DELETE',
  words: described(() => ({
    description: 'Deletes a postback. Nothing more is sent to it, not even what is pending.',
    answer: null,
  })),
  async run(call, { postback_id: id }) {
    await hooks.deleteEndpoint(changeOf(call), id)
    return null
  },
})

/** What a test event has in place of the values of a customer. */
const TEST_VALUES = {
  customer: 'test-customer',
  country: 'MT',
  link_id: 'test',
  sub1: 'test-1',
  sub2: 'test-2',
  sub3: 'test-3',
  sub4: 'test-4',
  sub5: 'test-5',
  amount: '1.00',
  currency: 'EUR',
  period: '2026-01',
}

export const testPostback = operation({
  ...ofPostback,
  path: `${ofPostback.path}/test`,
  id: 'testPostback',
  method: 'POST',
  words: described(() => ({
    description:
      'Sends an event of the type `webhook.test` with invented values once, also while the postback is paused, and returns what the tracker answered. It is in no list of attempts.',
    answer: testAnswer,
  })),
  async run(call, { postback_id }) {
    const row = await hooks.findEndpoint(changeOf(call), postback_id)
    const now = Date.now()
    const [id, time] = [hooks.newEventId(now), new Date(now).toISOString()]
    const data = { ...TEST_VALUES, event: TEST_EVENT, id, affiliate_id: call.affiliate.id, time }
    const url = filledUrl(call.env, row.url, data)
    return hooks.tryEndpoint(changeOf(call), row, { id, url, data })
  },
})

export const replayPostback = operation({
  ...ofPostback,
  path: `${ofPostback.path}/replay`,
  id: 'replayPostback',
  method: 'POST',
  body: replayFields,
  status: 202,
  words: described(() => ({
    description:
      'Sends one event of the last 30 days again, or all dead letters. They keep their ids.',
    answer: v.object({
      replayed: member(count, 'The number of events that are sent again.'),
    }),
    errors: ['conflict'],
  })),
  async run(call, { postback_id: id, event_id = null }) {
    return { replayed: await hooks.replayEndpoint(changeOf(call), id, event_id) }
  },
})

/** The types of events that postbacks are sent. */
type SentType = PostbackEvent | typeof RETURNED_EVENT

export const listPostbackAttempts = list({
  ...ofPostback,
  path: `${ofPostback.path}/attempts`,
  id: 'listPostbackAttempts',
  params: { postback_id, ...statusFilter },
  words: described(() => ({
    description:
      'Lists the events of the last 30 days, the newest first, each with its last attempt.',
    answer: component('PostbackEvent', () => ({
      ...sentEvent,
      type: member(v.picklist([...POSTBACK_EVENTS, RETURNED_EVENT]), 'The type of the event.'),
    })),
  })),
  async list(call, { postback_id: id, status = null }, page) {
    const found = await hooks.readMessages<SentType>(changeOf(call), id, status, page)
    // An affiliate sees the data only as it was sent to them: see `addressPostback`.
    return { ...found, data: found.data.map(({ data: _, ...shown }) => shown) }
  },
})

/** The operations on the postbacks of the affiliate who calls. A secret is shown only once, when it is created. */
export const POSTBACK_OPERATIONS = [
  listPostbacks,
  createPostback,
  changePostback,
  deletePostback,
  testPostback,
  replayPostback,
  listPostbackAttempts,
]
