import * as fields from '../../../../src/admin/fields.ts'
import { closedObject } from '../../json-schema.ts'
import type { JsonSchema } from '../../types.ts'
import { allOf, type Operation, PAGING, ref } from '../operation.ts'
import { newDefinition } from '../shapes.ts'
import { AT, COUNT, GONE, OWN, op, paged, shown } from './common.ts'

/** Words of an account's own, and what each means. */
const words = (name: string, meaning: JsonSchema): JsonSchema => ({
  type: 'object',
  properties: { [name]: { type: 'object', additionalProperties: meaning } },
  required: [name],
})

/** Who may be paid. */
export const affiliates = (): Operation[] => [
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

/** What an account's own words mean. */
export const vocabulary = (): Operation[] => {
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

/** How the events of a brand are read. */
export const events = (): Operation[] => [
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
