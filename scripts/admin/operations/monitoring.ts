import { list, object } from '../format.ts'
import type { Operation, Options } from '../operation.ts'
import { tail } from '../tail.ts'
import {
  errorRows,
  feedRow,
  hasRecords,
  listed,
  type Row,
  recordsTable,
  storedNote,
} from './deliveries-format.ts'
import { DAYS, listOperation } from './parts.ts'

/** The options that narrow a list of deliveries. */
const FILTERS: Options = {
  resource: { value: 'resource', description: 'Only this resource, such as transactions.' },
  status: {
    value: 'status',
    description: 'Only this status: refused is 207 and 422, stored is 200 and 201.',
    choices: ['stored', 'refused', '200', '201', '207', '422'],
  },
  code: {
    value: 'code',
    description: 'Only deliveries with this error, such as unknown_customer.',
  },
}

const TIMES: Options = {
  from: { value: 'time', description: 'Received from this day (UTC) or RFC 3339 time on.' },
  to: { value: 'time', description: 'Received until this day (UTC) or time, inclusive.' },
}

const RECORD_ID: Options = {
  'record-id': {
    value: 'id',
    description: 'The deliveries that carried the record with this id, refused or stored.',
  },
}

const INTERVAL: Options = {
  interval: {
    value: 'n',
    description: 'The seconds between two requests. (default: 2)',
    pattern: /^[1-9]\d{0,3}$/,
  },
}

/** Names the time zone of the days, unless it is UTC. */
function bookZoneNote(body: unknown): string | null {
  const { book_zone } = body as { book_zone?: string }
  return book_zone
    ? `Customers and transactions count on their day in ${book_zone}, the book zone of the account.`
    : null
}

/** Deliveries, totals, feeds and the audit log. */
export const MONITORING: readonly Operation[] = [
  listOperation({
    noun: 'deliveries',
    verb: 'list',
    summary: 'Lists the deliveries of the last 30 days, newest first, or those of one record.',
    example: 'acme --record-id T-5001',
    path: 'accounts/{account}/deliveries',
    options: { ...FILTERS, ...TIMES, ...RECORD_ID },
    format: (body, input) => (hasRecords(body) ? recordsTable(body, input) : listed(body, input)),
    note: (body) => (hasRecords(body) ? storedNote(body) : null),
  }),
  {
    noun: 'deliveries',
    verb: 'get',
    summary: 'Shows a delivery with the errors of its rejected records.',
    example: 'acme DELIVERY_ID',
    method: 'GET',
    path: 'accounts/{account}/deliveries/{delivery_id}',
    format: object,
  },
  listOperation({
    noun: 'deliveries',
    verb: 'refused',
    summary: 'Lists all refused records of a delivery with their errors.',
    example: 'acme DELIVERY_ID',
    path: 'accounts/{account}/deliveries/{delivery_id}/refused',
    format: list(undefined, errorRows),
  }),
  {
    noun: 'deliveries',
    verb: 'errors',
    summary: 'Counts the deliveries of some days by error.',
    example: 'acme --from 2026-10-01 --to 2026-10-31',
    method: 'GET',
    path: 'accounts/{account}/delivery-errors',
    options: DAYS,
    format: list(),
  },
  {
    noun: 'deliveries',
    verb: 'days',
    summary: 'Counts the records of the last 30 days by the day they arrived.',
    example: 'acme',
    method: 'GET',
    path: 'accounts/{account}/arrivals',
    format: list(),
  },
  {
    noun: 'attention',
    summary: 'Lists what needs attention, the most urgent first.',
    example: 'acme',
    method: 'GET',
    path: 'accounts/{account}/attention',
    format: list(),
  },
  {
    noun: 'search',
    summary: 'Finds the accounts that have an id, or an affiliate with a name or address.',
    example: 'C-1001',
    method: 'GET',
    path: 'search',
    argument: 'id',
    isArgumentInQuery: true,
    format: list(['account', 'name', 'found']),
  },
  {
    noun: 'tail',
    summary: 'Follows the deliveries of an account as they come, with their errors.',
    example: 'acme --status refused',
    method: 'GET',
    path: 'accounts/{account}/deliveries',
    options: { ...FILTERS, ...INTERVAL },
    follow: (send, request, input, output, signal) =>
      tail(send, request, { ...input, filters: FILTERS }, output, signal),
    format: () => '',
  },
  {
    noun: 'totals',
    summary: 'Shows control totals for reconciliation.',
    example: 'acme --from 2026-10-01 --to 2026-10-31',
    method: 'GET',
    path: 'accounts/{account}/totals',
    options: DAYS,
    format: list(),
    note: bookZoneNote,
  },
  listOperation({
    noun: 'held',
    summary: 'Lists records that are held for their customer.',
    example: 'acme',
    path: 'accounts/{account}/held',
    format: list(),
  }),
  listOperation({
    noun: 'feeds',
    summary: 'Shows how recent and how complete the data of all accounts is.',
    example: '--limit 20',
    path: 'feeds',
    format: list(undefined, ({ account, feeds }) =>
      (feeds as Row[]).map((feed) => ({ account, ...feedRow(feed) })),
    ),
  }),
  {
    noun: 'feed',
    summary: 'Shows how recent and how complete the data of an account is.',
    example: 'acme',
    method: 'GET',
    path: 'accounts/{account}/feed',
    format: list(undefined, (feed) => [feedRow(feed)]),
  },
]
