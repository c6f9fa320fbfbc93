import type { Command } from '../command.ts'
import { feeds, fields, rows } from '../show.ts'
import { list, SPAN } from './parts.ts'

const SUMMARY = ['received', 'created', 'updated', 'unchanged', 'stale', 'held', 'rejected']

/** What an account sent, and what became of it. */
export const DESK: readonly Command[] = [
  list({
    noun: 'deliveries',
    verb: 'list',
    about: 'what arrived in 30 days, newest first',
    path: 'accounts/ACCOUNT/deliveries',
    show: rows([
      ...['delivery_id', 'received_at', 'resource', 'status', 'dry_run'],
      ...SUMMARY.map((name) => `summary.${name}`),
      'errors_total',
    ]),
  }),
  {
    noun: 'deliveries',
    verb: 'get',
    about: 'one of them, with the errors of what was refused',
    method: 'GET',
    path: 'accounts/ACCOUNT/deliveries/ID',
    show: fields,
  },
  {
    noun: 'totals',
    about: 'control totals, to reconcile with',
    method: 'GET',
    path: 'accounts/ACCOUNT/totals',
    options: SPAN,
    show: rows(),
  },
  list({
    noun: 'held',
    about: 'records that wait for their customer',
    path: 'accounts/ACCOUNT/held',
    show: rows(),
  }),
  list({
    noun: 'feeds',
    about: 'how fresh the data of all accounts is',
    path: 'feeds',
    show: feeds,
  }),
  {
    noun: 'feed',
    about: 'how fresh the data of one account is',
    method: 'GET',
    path: 'accounts/ACCOUNT/feed',
    show: rows(),
  },
  list({
    noun: 'audit-log',
    about: 'who changed what, newest first',
    path: 'audit-log',
    options: { account: { hint: 'A', about: 'of this account only' } },
    show: rows(['at', 'actor', 'action', 'account', 'details']),
  }),
]
