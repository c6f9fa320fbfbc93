import { listOf, type Operation, PAGING, ref } from '../operation.ts'
import { ACCOUNT_PATH, COUNT, operation, paged, returned } from './operation.ts'

/** Lists the operations that show where customers came from. */
export const attribution = (): Operation[] => [
  operation({
    method: 'get',
    path: `${ACCOUNT_PATH}/customers`,
    id: 'listAttributed',
    summary: 'List the attribution of customers',
    description:
      'Lists customers with the verdict on their origin and the affiliate that is paid: all of them, one, or with `unattributed` those who signed up from `from` to `to` and have no affiliate.',
    parameters: [...PAGING, 'attributed_query', 'unattributed_query', 'from', 'to'],
    answers: paged('One page of customers.', ref('Attributed')),
  }),
  operation({
    method: 'get',
    path: `${ACCOUNT_PATH}/attribution`,
    id: 'countAttribution',
    summary: 'Count attributed customers',
    description: 'Returns the number of customers for each day, verdict and link.',
    parameters: ['from_day', 'to_day'],
    answers: returned('The counts.', listOf(ref('Attribution'))),
  }),
  operation({
    method: 'get',
    path: `${ACCOUNT_PATH}/clicks`,
    id: 'countClicks',
    summary: 'Count clicks',
    description: 'Returns the number of clicks for each day and link. Clicks are kept for 30 days.',
    parameters: ['from_day', 'to_day'],
    answers: returned('The counts.', listOf(ref('Clicks'))),
  }),
]

/** Lists the operations that erase personal data. */
export const erasure = (): Operation[] => [
  operation({
    method: 'delete',
    path: `${ACCOUNT_PATH}/customers/{customer_id}/personal-data`,
    id: 'eraseCustomer',
    summary: "Erase a customer's personal data",
    description:
      'Erases the personal data of a customer permanently. If it is sent again, it is not stored, and the record has the warning `erased`. Customers of brands also lose the country, additional fields, and `tracking_data` that the service did not issue for the account. Activities of a brand keep ids, times, amounts, KPIs and product lines; if there are many, `complete` is false, and the service erases the others within minutes.',
    answers: returned('The time of the first erasure.', ref('Erasure')),
  }),
  operation({
    method: 'delete',
    path: `${ACCOUNT_PATH}/customers/personal-data`,
    id: 'eraseCustomerById',
    summary: "Erase a customer's personal data by query parameter",
    description:
      'Does the same as the path with the id. Use this for the ids `.` and `..`, which URL parsers remove from a path.',
    parameters: ['id_query'],
    answers: returned('The time of the first erasure.', ref('Erasure')),
  }),
  operation({
    method: 'get',
    path: `${ACCOUNT_PATH}/erasures`,
    id: 'listErasures',
    summary: 'List erasures',
    description: 'Lists the customers whose personal data was erased, with the time.',
    parameters: PAGING,
    answers: paged('One page of erasures.', ref('Erasure')),
  }),
  operation({
    method: 'post',
    path: '/admin/v1/erasures/replay',
    id: 'replayErasures',
    summary: 'Repeat erasures after a restore',
    description:
      'Repeats the erasures after a database was restored, from the journal outside the database. Also sends the restored settings to all live tokens. One request repeats a part of them: send `next` as `cursor` until it is null.',
    parameters: ['account_query', 'replay_cursor'],
    answers: returned('The number of customers that this request erased.', {
      type: 'object',
      properties: {
        erased: COUNT,
        next: {
          type: ['string', 'null'],
          description: 'The `cursor` of the next request. Null at the end.',
        },
      },
      required: ['erased', 'next'],
    }),
  }),
]

/** Describes the freshness of all accounts. */
export const feeds = (): Operation =>
  operation({
    method: 'get',
    path: '/admin/v1/feeds',
    id: 'listFeeds',
    summary: 'List the data freshness of all accounts',
    description: 'Lists the feeds of all accounts, ordered by account id.',
    parameters: PAGING,
    answers: paged('One page of accounts.', ref('FeedOfAccount')),
  })

/** Describes the databases. */
export const databases = (): Operation =>
  operation({
    method: 'get',
    path: '/admin/v1/databases',
    id: 'listDatabases',
    summary: 'List the databases',
    description:
      'Lists the databases of the deployment: how many accounts each has, how full it is, and when it will have 5 GB. `pools` says the same of the databases of each jurisdiction.',
    answers: returned(
      'The databases.',
      listOf(ref('Database'), { pools: { type: 'array', items: ref('DatabasePool') } }),
    ),
  })

/** Describes the audit log of all accounts. */
export const audit = (): Operation =>
  operation({
    method: 'get',
    path: '/admin/v1/audit-log',
    id: 'listAuditLog',
    summary: 'List the audit log',
    description:
      'Lists administrative actions with actor and time, newest first. `actor` and `kind` are searched for in the latest 100,000 entries of the days.',
    parameters: [...PAGING, 'account_query', 'from', 'to', 'audit_actor', 'audit_kind'],
    answers: paged('One page of entries.', ref('Audited')),
  })
