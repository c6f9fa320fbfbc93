import * as fields from '../../../../src/admin/fields.ts'
import { closedObject } from '../../json-schema.ts'
import type { JsonSchema } from '../../types.ts'
import { listOf, type Operation, ref } from '../operation.ts'
import { newDefinition } from '../shapes.ts'
import { ACCOUNT_PATH, AT, COUNT, NO_CONTENT, operation, returned } from './operation.ts'

const wordMap = (name: string, meaning: JsonSchema): JsonSchema => ({
  type: 'object',
  properties: { [name]: { type: 'object', additionalProperties: meaning } },
  required: [name],
})

/** Lists the operations on affiliates. */
export const affiliates = (): Operation[] => [
  operation({
    method: 'put',
    path: `${ACCOUNT_PATH}/affiliates`,
    id: 'putAffiliates',
    parameters: ['dry_run', 'only_new'],
    summary: 'Configure affiliates',
    description:
      'Adds or changes 1 to 1000 affiliates, each with an optional parent. Customers that named an affiliate earlier are assigned to it without being sent again. An id with white space around it is refused, and so is `*`.',
    body: {
      schema: {
        type: 'array',
        items: closedObject(fields.affiliate, AT),
        minItems: 1,
        maxItems: 1000,
      },
    },
    answers: returned(
      'The number of affiliates received, of those new or changed, and of those whose parent was removed, if there are any.',
      {
        type: 'object',
        properties: { received: COUNT, changed: COUNT, parents_removed: COUNT },
        required: ['received', 'changed'],
      },
    ),
    errors: ['conflict'],
  }),
]

const STATUS: JsonSchema = { type: 'string', enum: ['pending', 'approved', 'declined', 'reversed'] }

const VOCABULARIES = [
  { path: 'status-map', name: 'status', id: 'StatusMap', title: 'transaction statuses' },
  { path: 'labels/kyc_status_id', name: 'kyc_status_id', id: 'KycLabels', title: 'KYC labels' },
  {
    path: 'labels/sales_status_id',
    name: 'sales_status_id',
    id: 'SalesLabels',
    title: 'sales labels',
  },
]

/** Lists the operations on the words of a partner and their meanings. */
export const vocabulary = (): Operation[] =>
  VOCABULARIES.flatMap(({ path, name, id, title }) => {
    const meaning = name === 'status' ? STATUS : ref('Text')
    return [
      operation({
        method: 'get',
        path: `${ACCOUNT_PATH}/${path}`,
        id: `get${id}`,
        summary: `Get the ${title}`,
        description: "Returns the partner's words with the meaning of each.",
        answers: returned('The words.', wordMap(name, meaning)),
      }),
      operation({
        method: 'put',
        path: `${ACCOUNT_PATH}/${path}`,
        id: `put${id}`,
        summary: `Set the ${title}`,
        description: 'Replaces all words. An account has at most 500.',
        body: { schema: { type: 'object', additionalProperties: meaning, maxProperties: 500 } },
        answers: returned('The words after the change.', wordMap(name, meaning)),
      }),
    ]
  })

/** Lists the operation that finds statuses without a meaning. */
export const unmappedStatuses = (): Operation[] => [
  operation({
    method: 'get',
    path: `${ACCOUNT_PATH}/status-map/unmapped`,
    id: 'listUnmappedStatuses',
    summary: 'List the unmapped transaction statuses',
    description:
      'Returns the statuses of the latest 500 transactions, and of the last 30 days as far as their totals are kept, that the status map does not have. Their transactions earn nothing until it has them.',
    answers: returned(
      'The statuses without a meaning.',
      listOf({
        type: 'object',
        properties: { status: { ...ref('Text'), description: 'The status, as it was sent.' } },
        required: ['status'],
      }),
    ),
  }),
]

/** Lists the operations on the event definitions of a brand. */
export const events = (): Operation[] => [
  operation({
    method: 'get',
    path: `${ACCOUNT_PATH}/events`,
    id: 'listEventDefinitions',
    summary: 'List event definitions',
    description: 'Lists the event definitions of a brand, ordered by name.',
    accountParameter: 'brand_account',
    answers: returned('The definitions.', listOf(ref('EventDefinition'))),
    errors: ['conflict'],
  }),
  operation({
    method: 'put',
    path: `${ACCOUNT_PATH}/events/{eventname}`,
    id: 'putEventDefinition',
    summary: 'Define an event',
    description:
      'Creates or replaces the definition of an event. It applies to later requests. A brand has at most 200 definitions.',
    accountParameter: 'brand_account',
    body: { schema: newDefinition() },
    answers: {
      200: { description: 'The replaced definition.', schema: ref('ChangedEventDefinition') },
      201: { description: 'The new definition.', schema: ref('ChangedEventDefinition') },
    },
    errors: ['conflict'],
  }),
  operation({
    method: 'delete',
    path: `${ACCOUNT_PATH}/events/{eventname}`,
    id: 'dropEventDefinition',
    summary: 'Delete an event definition',
    description: 'Deletes a definition. Later events of that name are read without a definition.',
    accountParameter: 'brand_account',
    answers: NO_CONTENT,
    errors: ['conflict'],
  }),
]
