import * as fields from '../../../src/admin/fields.ts'
import type { ErrorCode } from '../../../src/errors.ts'
import { ENTITIES } from '../entities.ts'
import { closedObject } from '../json-schema.ts'
import type { JsonSchema } from '../types.ts'
import { newDefinition } from './answers.ts'
import { allOf, LISTED, listOf, type Operation, PAGING, ref } from './operation.ts'
import { deskOf } from './senders.ts'

// What the integrations team sets up, and what it may look into.

const AT = '#/components/schemas/'
const OWN = '/admin/v1/accounts/{account}'

const COUNT: JsonSchema = { type: 'integer', minimum: 0 }

/** Words of an account's own, and what each means. */
const words = (name: string, meaning: JsonSchema): JsonSchema => ({
  type: 'object',
  properties: { [name]: { type: 'object', additionalProperties: meaning } },
  required: [name],
})

type Said = Pick<Operation, 'method' | 'path' | 'id' | 'summary' | 'description' | 'answers'> &
  Partial<Operation>

/** An operation of the team: what names an account may name one that is not there. */
function op({ path, method, fails = [], parameters = [], body, ...said }: Said): Operation {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const writes = method !== 'get'
  const codes: readonly ErrorCode[] = [
    'invalid_query',
    ...(inPath.length > 0 ? (['not_found'] as const) : []),
    ...(writes ? (['unsupported_media_type'] as const) : []),
    ...(body ? (['malformed_json', 'payload_too_large', 'validation_failed'] as const) : []),
    ...fails,
  ]
  return {
    tag: 'administration',
    who: 'team',
    ...said,
    method,
    path,
    ...(body && { body: { required: true, ...body } }),
    parameters: [...inPath, ...parameters],
    fails: codes,
  }
}

const made = (description: string, name: string) => ({ 201: { description, schema: ref(name) } })
const shown = (description: string, schema: JsonSchema) => ({ 200: { description, schema } })
const paged = (description: string, schema: JsonSchema) => ({
  200: { description, schema: listOf(schema), headers: LISTED.slice(1) },
})
const GONE = { 204: { description: 'Done; there is nothing to say.' } }

const accounts = (): Operation[] => {
  const { properties, ...account } = closedObject(fields.newAccount, AT)
  const binding = {
    type: 'string',
    description: 'The D1 binding that keeps its records; `DB` if left out.',
  }
  return [
    op({
      method: 'post',
      path: '/admin/v1/accounts',
      id: 'createAccount',
      summary: 'Create an account',
      description: 'One partner firm or one brand.',
      body: { schema: { ...account, properties: { ...(properties as object), binding } } },
      answers: made('The account.', 'Account'),
      fails: ['already_exists'],
    }),
    op({
      method: 'get',
      path: '/admin/v1/accounts',
      id: 'listAccounts',
      summary: 'List accounts',
      description: 'All accounts, by id.',
      parameters: PAGING,
      answers: paged('One page of accounts.', ref('Account')),
    }),
    op({
      method: 'get',
      path: OWN,
      id: 'getAccount',
      summary: 'Get one account',
      description: 'As it is set up.',
      answers: shown('The account.', ref('Account')),
    }),
    op({
      method: 'patch',
      path: OWN,
      id: 'changeAccount',
      summary: 'Change an account',
      description:
        'Name, time zone, policies, or whether it is disabled; what is left out stays. Judges what arrives later.',
      body: { schema: closedObject(fields.accountChange, AT), required: false },
      answers: shown('The account, changed.', ref('ChangedAccount')),
    }),
    op({
      method: 'post',
      path: `${OWN}/reset`,
      id: 'resetAccount',
      summary: 'Forget the data of a test account',
      description: 'Its records, clicks and deliveries. Credentials, settings and erasures stay.',
      body: { schema: closedObject({}, AT), required: false },
      answers: GONE,
      fails: ['conflict'],
    }),
  ]
}

const credentials = (): Operation[] => {
  const overlap = closedObject({ overlap: fields.overlap }, AT)
  return [
    op({
      method: 'post',
      path: `${OWN}/clients`,
      id: 'issueClient',
      summary: 'Issue an OAuth client',
      description: 'For a partner. Its secret is shown once.',
      body: { schema: closedObject({}, AT), required: false },
      answers: made('The client, with its secret.', 'NewClient'),
      fails: ['conflict'],
    }),
    op({
      method: 'get',
      path: `${OWN}/clients`,
      id: 'listClients',
      summary: 'List OAuth clients',
      description: 'All of the account, none with a secret.',
      answers: shown('The clients.', allOf(ref('Client'))),
      fails: ['conflict'],
    }),
    op({
      method: 'post',
      path: `${OWN}/clients/{client_id}/rotate`,
      id: 'rotateClient',
      summary: "Rotate a client's secret",
      description:
        'Makes a new one. With no overlap the old one and its live tokens end before their next request.',
      body: { schema: overlap, required: false },
      answers: made('The client, with its new secret.', 'RotatedClient'),
      fails: ['conflict'],
    }),
    op({
      method: 'delete',
      path: `${OWN}/clients/{client_id}`,
      id: 'revokeClient',
      summary: 'Revoke a client',
      description: 'Ends it and its live tokens, before their next request.',
      answers: GONE,
      fails: ['conflict'],
    }),
    op({
      method: 'post',
      path: `${OWN}/brand-tokens`,
      id: 'regenerateBrandToken',
      summary: 'Regenerate the Brand Token',
      description:
        'Makes a new one, shown once; the one before ends at once, or after the overlap.',
      body: { schema: overlap, required: false },
      answers: made('The Brand Token.', 'NewBrandToken'),
      fails: ['conflict'],
    }),
    op({
      method: 'get',
      path: `${OWN}/brand-tokens`,
      id: 'listBrandTokens',
      summary: 'List Brand Tokens',
      description:
        'All of the brand, by what they are known by: the tokens themselves nobody can show.',
      answers: shown('The Brand Tokens.', allOf(ref('BrandToken'))),
      fails: ['conflict'],
    }),
    op({
      method: 'delete',
      path: `${OWN}/brand-tokens/{token_id}`,
      id: 'revokeBrandToken',
      summary: 'Revoke a Brand Token',
      description: 'Ends it before its next request.',
      answers: GONE,
      fails: ['conflict'],
    }),
  ]
}

const affiliates = (): Operation[] => [
  op({
    method: 'put',
    path: `${OWN}/affiliates`,
    id: 'putAffiliates',
    summary: 'Configure affiliates',
    description:
      '1 to 1000 at once, each with an optional parent. Customers that named one before are attributed without a re-send.',
    body: {
      schema: {
        type: 'array',
        items: closedObject(fields.affiliate, AT),
        minItems: 1,
        maxItems: 1000,
      },
    },
    answers: shown('How many were sent, and how many were new or changed.', {
      type: 'object',
      properties: { received: COUNT, changed: COUNT },
      required: ['received', 'changed'],
    }),
    fails: ['conflict'],
  }),
  op({
    method: 'get',
    path: `${OWN}/affiliates`,
    id: 'listAffiliates',
    summary: 'List affiliates',
    description: 'All that are configured, by id.',
    parameters: PAGING,
    answers: paged('One page of affiliates.', ref('Affiliate')),
  }),
  op({
    method: 'get',
    path: `${OWN}/affiliates/unconfigured`,
    id: 'listUnconfiguredAffiliates',
    summary: 'Affiliates that are not configured',
    description: 'The ids that customers name and nobody has configured, with how many name each.',
    answers: shown(
      'At most 1000 of them, the most frequent first.',
      allOf({
        type: 'object',
        properties: { affiliate_id: { type: 'string' }, customers: COUNT },
        required: ['affiliate_id', 'customers'],
      }),
    ),
  }),
]

const vocabulary = (): Operation[] => {
  const status = { type: 'string', enum: ['pending', 'approved', 'declined', 'reversed'] }
  const label = ref('Text')
  return (
    [
      ['status-map', 'status', 'StatusMap', 'what transaction statuses mean', status],
      ['labels/kyc_status_id', 'kyc_status_id', 'KycLabels', 'how kyc statuses are called', label],
      [
        'labels/sales_status_id',
        'sales_status_id',
        'SalesLabels',
        'how sales statuses are called',
        label,
      ],
    ] as const
  ).flatMap(([path, name, id, what, meaning]) => [
    op({
      method: 'get',
      path: `${OWN}/${path}`,
      id: `get${id}`,
      summary: `Get ${what}`,
      description: "The partner's own words, each with its meaning.",
      answers: shown('The words.', words(name, meaning)),
    }),
    op({
      method: 'put',
      path: `${OWN}/${path}`,
      id: `put${id}`,
      summary: `Set ${what}`,
      description: 'In place of all that were there; at most 500.',
      body: { schema: { type: 'object', additionalProperties: meaning, maxProperties: 500 } },
      answers: shown('The words, as they are now.', words(name, meaning)),
    }),
  ])
}

const events = (): Operation[] => [
  op({
    method: 'get',
    path: `${OWN}/events`,
    id: 'listEventDefinitions',
    summary: 'List event definitions',
    description: 'How the events of a brand are read, by name.',
    answers: shown('The definitions.', allOf(ref('EventDefinition'))),
    fails: ['conflict'],
  }),
  op({
    method: 'put',
    path: `${OWN}/events/{eventname}`,
    id: 'putEventDefinition',
    summary: 'Define an event',
    description:
      'In place of the definition of that name. Judges what arrives later. At most 200 a brand.',
    body: { schema: newDefinition() },
    answers: {
      200: { description: 'The definition, changed.', schema: ref('ChangedEventDefinition') },
      201: { description: 'The definition, new.', schema: ref('ChangedEventDefinition') },
    },
    fails: ['conflict'],
  }),
  op({
    method: 'delete',
    path: `${OWN}/events/{eventname}`,
    id: 'dropEventDefinition',
    summary: 'Drop an event definition',
    description: 'Events of that name are read without one from then on.',
    answers: GONE,
    fails: ['conflict'],
  }),
]

const links = (): Operation[] => [
  op({
    method: 'post',
    path: `${OWN}/links`,
    id: 'createLink',
    summary: 'Create a link',
    description: 'From an affiliate to a landing page. Whose it is never changes.',
    body: { schema: closedObject(fields.newLink, AT) },
    answers: made('The link.', 'Link'),
  }),
  op({
    method: 'get',
    path: `${OWN}/links`,
    id: 'listLinks',
    summary: 'List links',
    description: 'All of the account, by id.',
    parameters: PAGING,
    answers: paged('One page of links.', ref('Link')),
  }),
  op({
    method: 'get',
    path: `${OWN}/links/{link_id}`,
    id: 'getLink',
    summary: 'Get one link',
    description: 'As it is set up.',
    answers: shown('The link.', ref('Link')),
  }),
  op({
    method: 'patch',
    path: `${OWN}/links/{link_id}`,
    id: 'changeLink',
    summary: 'Change a link',
    description: 'Where it leads, its name, or whether it does; within 60 seconds visitors notice.',
    body: { schema: closedObject(fields.linkChange, AT), required: false },
    answers: shown('The link, changed.', ref('Link')),
  }),
]

const insight = (): Operation[] => [
  op({
    method: 'get',
    path: `${OWN}/customers`,
    id: 'listAttributed',
    summary: 'List where customers came from',
    description: 'The verdict on each, and who is paid.',
    parameters: PAGING,
    answers: paged('One page of customers.', ref('Attributed')),
  }),
  op({
    method: 'get',
    path: `${OWN}/attribution`,
    id: 'countAttribution',
    summary: 'Count where customers came from',
    description: 'By day, verdict and link.',
    parameters: ['from_day', 'to_day'],
    answers: shown('The counts.', allOf(ref('Attribution'))),
  }),
  op({
    method: 'get',
    path: `${OWN}/clicks`,
    id: 'countClicks',
    summary: 'Count clicks',
    description: 'By day and link; clicks are kept for 30 days.',
    parameters: ['from_day', 'to_day'],
    answers: shown('The counts.', allOf(ref('Clicks'))),
  }),
  op({
    method: 'delete',
    path: `${OWN}/customers/{customer_id}/personal-data`,
    id: 'eraseCustomer',
    summary: "Erase a customer's personal data",
    description: 'For good: a later re-send is masked, with the warning `erased`.',
    answers: shown('When it was first erased.', ref('Erasure')),
  }),
  op({
    method: 'get',
    path: `${OWN}/erasures`,
    id: 'listErasures',
    summary: 'List erasures',
    description: 'Whose personal data was erased, and when.',
    parameters: PAGING,
    answers: paged('One page of erasures.', ref('Erasure')),
  }),
  op({
    method: 'post',
    path: '/admin/v1/erasures/replay',
    id: 'replayErasures',
    summary: 'Erase again after a restore',
    description:
      'Erases all that was ever erased, from the journal outside the database, and tells all live tokens what the database says now.',
    parameters: ['account_query'],
    answers: shown('How many customers.', {
      type: 'object',
      properties: { erased: COUNT },
      required: ['erased'],
    }),
  }),
  op({
    method: 'get',
    path: '/admin/v1/feeds',
    id: 'listFeeds',
    summary: 'How fresh all data is',
    description: 'The feeds of all accounts, by id.',
    parameters: PAGING,
    answers: paged('One page of accounts.', ref('FeedOfAccount')),
  }),
  op({
    method: 'get',
    path: '/admin/v1/audit-log',
    id: 'listAuditLog',
    summary: 'The audit log',
    description: 'Who did what, and when, newest first; no secrets.',
    parameters: [...PAGING, 'account_query'],
    answers: paged('One page of lines.', ref('Audited')),
  }),
]

/** All that the integrations team may ask. */
export const team = (): Operation[] => [
  ...accounts(),
  ...credentials(),
  ...affiliates(),
  ...vocabulary(),
  ...events(),
  ...links(),
  ...insight(),
  ...deskOf(OWN, 'team', 'administration', ENTITIES, {
    anyOf: [ref('PartnerTotal'), ref('BrandTotal')],
  }),
]
