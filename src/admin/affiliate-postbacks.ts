import * as v from 'valibot'
import { accountOperation } from '../http/operation.ts'
import { notFound } from '../http/read-fields.ts'
import { time } from '../validation/answer-fields.ts'
import { described, listOf, named } from '../validation/described.ts'
import { member, said } from '../validation/fields.ts'
import { POSTBACK_EVENTS } from '../webhooks/events.ts'
import { changePostback, findPostback, listPostbacks } from '../webhooks/manage.ts'
import { affiliate_id, requireAffiliate } from './affiliate-keys.ts'
import { postbackPause } from './postback-fields.ts'

/** The id of a postback. */
export const postback_id = member(
  v.string(),
  said('The id of the postback.', 'pbk_4f8Kd02LmQzX7vBn1TcY5s'),
)

/** A postback as its affiliate and the team see it. */
export const postback = described(() =>
  named(
    'Postback',
    v.object({
      id: postback_id,
      url: member(v.string(), 'Where events are sent, with its macros.'),
      method: member(v.picklist(['GET', 'POST']), 'How they are sent. It never changes.'),
      events: member(v.array(v.picklist(POSTBACK_EVENTS)), 'The types of events that are sent.'),
      disabled: member(v.boolean(), 'Whether nothing is sent.'),
      disabled_reason: v.nullable(
        member(
          v.picklist(['affiliate', 'firm', 'gone', 'failing']),
          '`affiliate`: the affiliate has paused it. `firm`: the firm has. `gone`: it answered 410. `failing`: all attempts of three days failed.',
        ),
      ),
      failing_since: v.nullable(
        member(
          time,
          'The first failed attempt after the last success. Null if the last attempt succeeded.',
        ),
      ),
      created_at: time,
    }),
  ),
)

const ofPostbacks = { topic: 'affiliates', path: '/affiliates/{affiliate_id}/postbacks' } as const

export const listAffiliatePostbacks = accountOperation({
  ...ofPostbacks,
  id: 'listAffiliatePostbacks',
  method: 'GET',
  role: 'viewer',
  params: { affiliate_id },
  words: described(() => ({
    description: 'Lists where an affiliate has events sent, the oldest first.',
    answer: listOf(postback),
    command: { name: 'postbacks list' },
  })),
  async run(call, { affiliate_id: affiliate }) {
    await requireAffiliate(call, affiliate)
    return { data: await listPostbacks(call.env, call.account, affiliate) }
  },
})

export const pausePostback = accountOperation({
  ...ofPostbacks,
  path: `${ofPostbacks.path}/{postback_id}`,
  id: 'pausePostback',
  method: 'PATCH',
  role: 'manager',
  params: { affiliate_id, postback_id },
  body: postbackPause,
  words: described(() => ({
    description:
      'Pauses a postback, or lets it go on. The affiliate cannot end a pause of the team. Pending events become dead letters.',
    answer: postback,
    command: { name: 'postbacks change' },
  })),
  async run(call, { affiliate_id: affiliate, postback_id: id, disabled }) {
    await requireAffiliate(call, affiliate)
    const find = async () => {
      const found = await findPostback(call.env, call.account, affiliate, id)
      if (!found) throw notFound('postback', id)
      return found
    }
    await find()
    await changePostback({ ...call, affiliate_id: affiliate }, id, { disabled }, true)
    return find()
  },
})

/** The operations on the postbacks of affiliates, which the team sees and can pause. */
export const AFFILIATE_POSTBACK_OPERATIONS = [listAffiliatePostbacks, pausePostback]
