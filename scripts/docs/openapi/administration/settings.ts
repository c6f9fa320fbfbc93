import * as fields from '../../../../src/admin/fields.ts'
import { FIGURE_LIMITS } from '../../../../src/db/directory/affiliate-figures.ts'
import { documented, object } from '../../envelopes.ts'
import { closedObject } from '../../json-schema.ts'
import type { JsonSchema } from '../../types.ts'
import { listOf, type Operation, PAGING, ref } from '../operation.ts'
import { DAY, FLAG, newDefinition, orNull, TEXT } from '../shapes.ts'
import { ACCOUNT_PATH, AT, COUNT, NO_CONTENT, operation, paged, returned } from './operation.ts'

/** An affiliate with the parents by day. */
const affiliateParents: JsonSchema = object({
  affiliate_id: documented('The id of the affiliate.'),
  parents: documented('In order of days. The first holds from the beginning.', {
    type: 'array',
    items: object({
      from: documented('The first day. Null: from the beginning.', orNull(DAY)),
      parent: documented('The parent, if any.', orNull(TEXT)),
    }),
  }),
})

const wordMap = (name: string, meaning: JsonSchema): JsonSchema => ({
  type: 'object',
  properties: { [name]: { type: 'object', additionalProperties: meaning } },
  required: [name],
})

const UNCONFIGURED = listOf(
  {
    type: 'object',
    properties: { affiliate_id: { type: 'string' }, customers: COUNT },
    required: ['affiliate_id', 'customers'],
  },
  {
    more_customers: documented(
      'Present if the account has more customers than are read: only the latest are counted.',
      { const: true },
    ),
  },
)

const CURRENCY = documented('An ISO 4217 code.')
const MONEY: JsonSchema = { type: 'string', pattern: '^-?\\d+(\\.\\d+)?$' }

const ASSIGNED = object({
  plan: documented('Its id.', TEXT),
  from: documented('The first day of the assignment.', DAY),
  for_all: documented('Whether it is assigned by `*`.', FLAG),
})

const FIGURES = object({
  affiliate_id: documented('Identifies the affiliate.', TEXT),
  display_name: documented('What the team calls them, or null.', orNull(TEXT)),
  contact_email: documented('Their e-mail address, or null.', orNull(TEXT)),
  status: documented('`active`, or `suspended`: it cannot call, and earns on.', TEXT),
  parent: documented('The affiliate who referred them, or null.', orNull(TEXT)),
  plan: documented('The plan of customers who sign up today, or null.', orNull(ASSIGNED)),
  next_plan: documented(
    'The next plan that is assigned from a later day on, or null.',
    orNull(ASSIGNED),
  ),
  balances: documented('By currency.', {
    type: 'array',
    items: object({
      currency: CURRENCY,
      balance: documented('The sum of all entries of the ledger.', MONEY),
      due: documented('What is approved and not yet paid.', MONEY),
    }),
  }),
  earned: documented(
    'The totals of statements of the last three months and weeks, the current ones among them, by period and currency.',
    {
      type: 'array',
      items: object({
        period: documented('The month or ISO week.', TEXT),
        currency: CURRENCY,
        total: documented('The sum of the totals.', MONEY),
      }),
    },
  ),
  last_signup: documented(
    `The day of the last signup among the latest ${FIGURE_LIMITS.customers.toLocaleString('en')} customers of the account, or null.`,
    orNull(DAY),
  ),
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
  operation({
    method: 'get',
    path: `${ACCOUNT_PATH}/affiliates`,
    id: 'listAffiliates',
    summary: 'List affiliates',
    description: 'Lists the configured affiliates, ordered by id.',
    parameters: [...PAGING, 'affiliate_query', 'affiliate_beginning', 'affiliate_ids'],
    answers: paged('One page of affiliates.', ref('Affiliate')),
  }),
  operation({
    method: 'get',
    path: `${ACCOUNT_PATH}/affiliates/parents`,
    id: 'listParents',
    summary: 'List the parents of affiliates by day',
    description:
      'Lists the configured affiliates with their parents by day, ordered by id. A parent counts from the day on which it was set, or from the `from` that came with it.',
    parameters: [...PAGING, 'affiliate_query'],
    answers: paged('One page of affiliates.', affiliateParents),
  }),
  operation({
    method: 'get',
    path: `${ACCOUNT_PATH}/affiliates/figures`,
    id: 'listAffiliateFigures',
    summary: 'List affiliates with their figures',
    description:
      'Lists the configured affiliates, each with its plan, balance, earnings of the last periods and last signup.',
    parameters: [...PAGING, 'affiliate_search', 'affiliate_only', 'affiliate_sort'],
    answers: paged('One page of affiliates.', FIGURES),
  }),
  operation({
    method: 'get',
    path: `${ACCOUNT_PATH}/affiliates/unconfigured`,
    id: 'listUnconfiguredAffiliates',
    summary: 'List unconfigured affiliates',
    description:
      'Lists the affiliate ids that customers name but that are not configured, with the number of customers.',
    parameters: ['latest_customers'],
    answers: returned('At most 1000 ids, the most frequent first.', UNCONFIGURED),
  }),
  operation({
    method: 'delete',
    path: `${ACCOUNT_PATH}/affiliates/{affiliate_id}`,
    id: 'deleteAffiliate',
    summary: 'Delete an affiliate',
    description:
      'Deletes an affiliate that nothing names, such as one with a mistyped id. An affiliate that a customer, a link, an assignment, a statement, a manual entry, a ledger entry or another affiliate names is a conflict, whose detail says which of these.',
    answers: NO_CONTENT,
    errors: ['conflict'],
  }),
  operation({
    method: 'delete',
    path: `${ACCOUNT_PATH}/affiliates`,
    id: 'deleteAffiliateById',
    summary: 'Delete an affiliate by query parameter',
    description:
      'Does the same as the path with the id. Use this for the ids `.` and `..`, which URL parsers remove from a path.',
    parameters: ['ledger_affiliate'],
    answers: NO_CONTENT,
    errors: ['not_found', 'conflict'],
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
