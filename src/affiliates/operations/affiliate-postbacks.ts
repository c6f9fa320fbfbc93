import * as v from 'valibot'
import { operation } from '../../platform/http/operation.ts'
import { time } from '../../platform/validation/answer-fields.ts'
import { component, described, listOf } from '../../platform/validation/described.ts'
import { member, nullable, said } from '../../platform/validation/fields.ts'
import type { EndpointRow } from '../../webhooks/db/endpoints.ts'
import { POSTBACK_EVENTS, type PostbackEvent } from '../../webhooks/events.ts'
import { listEndpoints, presentEndpoint } from '../../webhooks/manage.ts'
import { failing_since } from '../../webhooks/operations/webhooks.ts'
import { affiliate_id, requireAffiliate } from './affiliate-keys.ts'

/** The id of a postback. */
export const postback_id = member(
  v.string(),
  said('The id of the postback.', 'pbk_4f8Kd02LmQzX7vBn1TcY5s'),
)

/** A postback as its affiliate and the team see it. */
export const postback = component('Postback', () => ({
  id: postback_id,
  url: member(v.string(), 'Where events are sent, with its macros.'),
  method: member(v.picklist(['GET', 'POST']), 'How they are sent. It never changes.'),
  events: member(v.array(v.picklist(POSTBACK_EVENTS)), 'The types of events that are sent.'),
  disabled: member(v.boolean(), 'Whether nothing is sent.'),
  disabled_reason: nullable(
    v.picklist(['affiliate', 'gone', 'failing']),
    '`affiliate`: the affiliate has paused it. `gone`: it answered 410. `failing`: all attempts of three days failed.',
  ),
  failing_since,
  created_at: time,
}))

/** Returns a postback as its affiliate and the team see it: without its secret. */
export const presentPostback = (row: EndpointRow) => ({
  ...presentEndpoint<PostbackEvent>(row),
  method: row.method,
  disabled_reason: row.disabled === 'team' ? ('affiliate' as const) : row.disabled,
})

export const listAffiliatePostbacks = operation({
  topic: 'affiliates',
  path: '/affiliates/{affiliate_id}/postbacks',
  id: 'listAffiliatePostbacks',
  shows: 'affiliate',
  method: 'GET',
  params: { affiliate_id },
  words: described(() => ({
    description: 'Lists where an affiliate has events sent, the oldest first.',
    answer: listOf(postback),
    command: { name: 'postbacks list' },
  })),
  async run(call, { affiliate_id: affiliate }) {
    await requireAffiliate(call, affiliate)
    const { env, account } = call
    const rows = await listEndpoints({ env, account, affiliate_id: affiliate })
    return { data: rows.map(presentPostback) }
  },
})
