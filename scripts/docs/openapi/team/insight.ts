import * as fields from '../../../../src/admin/fields.ts'
import { closedObject } from '../../json-schema.ts'
import { allOf, type Operation, PAGING, ref } from '../operation.ts'
import { AT, COUNT, made, OWN, op, paged, shown } from './common.ts'

/** Links. */
export const links = (): Operation[] => [
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

/** What came of it all. */
export const insight = (): Operation[] => [
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
