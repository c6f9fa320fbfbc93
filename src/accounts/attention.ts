import * as v from 'valibot'
import type { Grant } from '../platform/auth/grant.ts'
import { listAffiliateIds } from '../platform/directory/credentials.ts'
import { operation } from '../platform/http/operation.ts'
import { count } from '../platform/validation/answer-fields.ts'
import { component, described, listOf } from '../platform/validation/described.ts'
import { exactOptional, member } from '../platform/validation/fields.ts'
import { settingsShown } from './accounts.ts'
import { eventDefinition } from './events.ts'
import { ATTENTION_CODES, readAttention, readTeamWork } from './open-work.ts'

const attention = described(() =>
  v.object({
    code: member(v.picklist(ATTENTION_CODES), 'What it is.'),
    count: member(
      count,
      'How many feeds, records, credentials, webhooks, statuses, affiliates, statements, payments or cases it concerns.',
    ),
    names: member(
      v.array(v.string()),
      'What it is about: resources, statuses, affiliates, hosts, currencies, periods or instants.',
    ),
    detail: member(v.string(), 'What it means and what to do.'),
    url: exactOptional(v.pipe(v.string(), v.url()), 'Where to look.'),
  }),
)

export const listAttention = operation({
  topic: 'monitoring',
  id: 'listAttention',
  shows: 'affiliate',
  method: 'GET',
  path: '/attention',
  words: described(() => ({
    description:
      'Returns what needs the attention of an account, the most urgent first. The account reads the same in `attention` of `GET account`, but for what only the team decides, such as `unapproved_drafts`: drafts of periods that have ended, without periods whose drafts all pay nothing.',
    answer: listOf(attention),
    command: { name: 'attention' },
  })),
  async run(call) {
    const found = await Promise.all([
      readAttention(call.env, call, Date.now()),
      readTeamWork(call.env, call),
    ])
    return { data: found.flat() }
  },
})

/** The maximum number of affiliates that `GET account` lists: an account may have any number of them. */
const MAX_LISTED_AFFILIATES = 1000

export const getOwnAccount = operation({
  topic: 'monitoring',
  id: 'getAccount',
  method: 'GET',
  path: '/account',
  callers: ['account'],
  words: described(() => ({
    description:
      'Returns the account of the credentials: its name, vertical, mode, time zone, policies, scope and the first 1000 configured affiliates.',
    answer: component('OwnAccount', () => ({
      ...settingsShown,
      client_id: exactOptional(v.string(), 'Partners only: the OAuth client of the access token.'),
      events: exactOptional(v.array(eventDefinition), 'Brands only: the event definitions.'),
      scope: member(v.string(), 'The granted scopes: a subset of `read write`.'),
      affiliates: member(
        v.array(v.string()),
        'The first 1000 ids of the configured affiliates, in order.',
      ),
      attention: member(v.array(attention), 'What needs attention, in the order of urgency.'),
      more_affiliates: exactOptional(
        v.literal(true),
        'Present if the account has more affiliates than listed.',
      ),
    })),
  })),
  async run({ env, ...reader }) {
    const { grant, session } = reader
    const [ids, attention] = await Promise.all([
      listAffiliateIds(session, grant.account, MAX_LISTED_AFFILIATES + 1),
      readAttention(env, reader, Date.now()),
    ])
    const affiliates = ids.slice(0, MAX_LISTED_AFFILIATES)
    const hasMore = ids.length > affiliates.length
    return {
      ...presentOwn(grant),
      affiliates,
      attention,
      ...(hasMore && { more_affiliates: true as const }),
    }
  },
})

/** Returns an account as its own API shows it. A brand has no OAuth client, a partner no event definitions. */
function presentOwn(grant: Grant) {
  const { account, client_id, name, vertical, mode, scope, events } = grant
  const { time_zone, book_zone, amount_signs, unknown_customer, unknown_affiliate } = grant
  return {
    account,
    name,
    vertical,
    mode,
    time_zone,
    book_zone,
    amount_signs,
    scope,
    policies: { unknown_customer, unknown_affiliate },
    ...(client_id === null ? { events } : { client_id }),
  }
}
