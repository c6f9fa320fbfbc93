import { SEARCHED, SEARCHED_ACCOUNTS } from '../../../../src/db/records/accounts-with.ts'
import { COUNTED_ERRORS } from '../../../../src/db/records/count-delivery-errors.ts'
import { ENTITIES } from '../../entities.ts'
import { documented, object } from '../../envelopes.ts'
import type { JsonSchema } from '../../types.ts'
import {
  listOf,
  type Operation,
  PAGE_HEADERS,
  PAGING,
  pageOf,
  READ_HEADERS,
  ref,
} from '../operation.ts'
import { attention, DAY, listed, oneOf, TEXT, TIME } from '../shapes.ts'
import { ACCOUNT_PATH, COUNT, operation } from './operation.ts'

const ARRIVALS = object({
  day: documented('The day (UTC) on which the requests arrived.', DAY),
  resource: documented('The resource, as it is named in the address.'),
  deliveries: documented('The number of requests.', COUNT),
  received: documented('The number of records in them.', COUNT),
  refused: documented(
    'How many of these records were not stored because they, or others of their request, were rejected.',
    COUNT,
  ),
})

const ERROR_COUNT = object({
  code: documented('The broken rule.'),
  deliveries: documented('The number of deliveries that have it.', COUNT),
  last_delivery_id: ref('DeliveryId'),
  last_received_at: documented('When the last of them arrived.', TIME),
})

const FOUND_RECORD = object(
  {
    resource: documented('The resource of the record.'),
    id: documented(
      'Its id as `unearned/facts` lists it. Of trading activity the day, customer, instrument and currency with `|` between them.',
    ),
    customer_id: documented('Its customer.'),
    day: documented('Its day.', DAY),
    outcome: documented('What the last delivery made of it: `created`, `updated` or `held`.'),
    delivery_id: ref('DeliveryId'),
    received_at: documented('When that delivery arrived.', TIME),
    revision: documented('How many times the record was written.', COUNT),
    archived: documented('Present if the record comes from the archive.', { const: true }),
    record: documented('The record as its sender reads it.', {
      anyOf: ENTITIES.map(({ component }) => ref(component)),
    }),
  },
  ['archived'],
)

const ATTENTION = object({ data: attention })

/** The numbers of the last three days. */
const compared = (what: string, most = '') =>
  documented(
    what,
    object({
      day_before: documented(`On the whole day before yesterday${most}.`, COUNT),
      yesterday: documented(`On the whole of yesterday${most}.`, COUNT),
      today: documented(`Today until now${most}.`, COUNT),
    }),
  )

const amounts = (what: string) =>
  listed(
    what,
    object({
      currency: documented('The currency.'),
      amount: documented('The sum, with the minor digits of the currency.'),
    }),
  )

const affiliates = listed('Their affiliates.', TEXT)

const CHANGES = object({
  since: documented('When yesterday began, in the time zone of the records.', TIME),
  yesterday: documented('The day of yesterday.', DAY),
  signups: compared('Customers by the day of their signup.', ', at most 10,000'),
  first_deposits: {
    ...compared('First approved deposits of customers since their signup, of forex brokers.'),
    type: ['object', 'null'],
    description:
      'First approved deposits of customers since their signup. Null if the account is no forex broker, or has more than 10,000 transactions in three days, or too many days before them to search.',
  },
  records: compared(
    'Records that arrived, by the hour of their delivery. An hour counts for the day on which it begins.',
  ),
  refused_records: compared('How many of these were refused.'),
  approved_statements: documented(
    'Statements that were approved.',
    object({
      count: documented('Their number.', COUNT),
      amounts: amounts('Their totals by currency.'),
      periods: listed('Their periods.', TEXT),
    }),
  ),
  payments: documented(
    'Payments that were recorded.',
    object({
      count: documented('Their number.', COUNT),
      amounts: amounts('Their sums by currency.'),
    }),
  ),
  returned_payments: documented('Payments that came back.', COUNT),
  cases_opened: documented(
    'Cases that the fraud review opened.',
    object({
      count: documented('Their number.', COUNT),
      holding: documented('How many of them hold payouts now.', COUNT),
      affiliates,
    }),
  ),
  holds_ended: documented(
    'Holds of payouts that ended without a decision, and that nobody has acknowledged.',
    COUNT,
  ),
})

const returned = (description: string, schema: JsonSchema) => ({
  200: { description, schema, headers: READ_HEADERS },
})

const FOUND = object({
  account: documented('The id of the account.'),
  name: documented('Its name.'),
  found: listed(
    'What has the id: `customer`, `transaction`, `event`, `affiliate` or `statement`.',
    oneOf(...SEARCHED),
  ),
})

/** Lists the operations by which the integrations team looks into an account. */
export const looking = (): Operation[] => [
  operation({
    method: 'get',
    path: '/admin/v1/search',
    id: 'searchAccounts',
    summary: 'Find the accounts that have an id',
    description: `Returns the accounts that have a customer, a transaction, an event, an affiliate or a statement with this id, or an affiliate with this name or e-mail address. The first ${SEARCHED_ACCOUNTS} accounts are searched, in the order of their ids.`,
    parameters: ['searched_id'],
    answers: { 200: { description: 'The accounts.', schema: listOf(FOUND) } },
  }),
  operation({
    method: 'get',
    path: `${ACCOUNT_PATH}/attention`,
    id: 'listAttention',
    summary: 'List what needs attention',
    description:
      'Returns what needs the attention of an account, the most urgent first. The account reads the same in `attention` of `GET account`, but for what only the team decides, such as `unapproved_drafts`: drafts of periods that have ended, without periods whose drafts all pay nothing.',
    parameters: ['x-d1-bookmark'],
    answers: returned('What needs attention.', ATTENTION),
  }),
  operation({
    method: 'get',
    path: `${ACCOUNT_PATH}/changes`,
    id: 'getChanges',
    summary: 'Get what changed since yesterday',
    description:
      'Returns what has changed in an account since the start of yesterday, in the time zone of its records. Signups and records are compared with the day before. Who changed settings and plans is in the audit log. Of statements, cases, questions and entries of the audit log, the latest 1,000 are read, and of payments the latest 10,000 by their day.',
    answers: { 200: { description: 'What changed.', schema: CHANGES } },
  }),
  operation({
    method: 'get',
    path: `${ACCOUNT_PATH}/arrivals`,
    id: 'listArrivals',
    summary: 'Count records by the day of arrival',
    description:
      'Returns how many records arrived and how many of them were rejected, for each resource and day (UTC) of the last 30 days. Of a request with status 422 all records count as rejected. Days without deliveries are left out, and so are dry runs.',
    parameters: ['x-d1-bookmark'],
    answers: returned('The counts.', listOf(ARRIVALS)),
  }),
  operation({
    method: 'get',
    path: `${ACCOUNT_PATH}/delivery-errors`,
    id: 'countDeliveryErrors',
    summary: 'Count deliveries by error',
    description: `Returns for each error how many deliveries of these days (UTC) have it, the most frequent first. The log keeps 30 days. At most ${COUNTED_ERRORS.toLocaleString('en')} errors of deliveries are counted; beyond that the response is 400.`,
    parameters: ['from_day', 'to_day', 'x-d1-bookmark'],
    answers: returned('The counts.', listOf(ERROR_COUNT)),
  }),
  operation({
    method: 'get',
    path: `${ACCOUNT_PATH}/records/{resource}`,
    id: 'listRecords',
    summary: 'List records',
    description:
      'Lists the stored records of a resource as their sender reads them: `customers`, `transactions` and `trading-activity` of a firm, `customers` and `activities` of a brand. Held records are not listed.',
    parameters: ['customer_id', ...PAGING, 'x-d1-bookmark'],
    answers: {
      200: {
        description: 'One page of records.',
        schema: pageOf({ anyOf: ENTITIES.map(({ component }) => ref(component)) }),
        headers: PAGE_HEADERS,
      },
    },
  }),
  operation({
    method: 'get',
    path: `${ACCOUNT_PATH}/records`,
    id: 'findRecords',
    summary: 'Find records by an id, or by its beginning',
    description:
      'Returns the records that are stored under an id, of all resources of the account, held records included: the id as it was sent, or as `unearned/facts` lists it.',
    parameters: ['record_id_query', 'record_match', 'x-d1-bookmark'],
    answers: returned('The records.', listOf(FOUND_RECORD)),
  }),
]
