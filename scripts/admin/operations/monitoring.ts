import { feeds, list, object } from '../format.ts'
import type { Operation } from '../operation.ts'
import { DAYS, listOperation } from './parts.ts'

const SUMMARY = ['received', 'created', 'updated', 'unchanged', 'stale', 'held', 'rejected']

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
    summary: 'Lists the deliveries of the last 30 days, newest first.',
    example: 'acme --limit 20',
    path: 'accounts/{account}/deliveries',
    format: list([
      ...['delivery_id', 'received_at', 'resource', 'status', 'dry_run'],
      ...SUMMARY.map((name) => `summary.${name}`),
      'errors_total',
    ]),
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
    summary: 'Shows how recent the data of all accounts is.',
    example: '--limit 20',
    path: 'feeds',
    format: feeds,
  }),
  {
    noun: 'feed',
    summary: 'Shows how recent the data of an account is.',
    example: 'acme',
    method: 'GET',
    path: 'accounts/{account}/feed',
    format: list(),
  },
  listOperation({
    noun: 'audit-log',
    summary: 'Lists who changed what, newest first.',
    example: '--account acme',
    path: 'audit-log',
    options: { account: { value: 'account', description: 'Only this account.' } },
    format: list(['at', 'actor', 'action', 'account', 'details']),
  }),
]
