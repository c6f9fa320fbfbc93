import type { Command } from '../command.ts'
import { fields, rows } from '../show.ts'
import { list, SPAN } from './parts.ts'

const ATTRIBUTION = ['verdict', 'link_id', 'affiliate_id', 'affiliate_configured']

/** Customers: where they came from, and how they are forgotten. */
export const CUSTOMERS: readonly Command[] = [
  list({
    noun: 'customers',
    verb: 'list',
    about: 'customers, and where each came from',
    path: 'accounts/ACCOUNT/customers',
    show: rows(['customer_id', 'day', ...ATTRIBUTION.map((name) => `attribution.${name}`)]),
  }),
  {
    noun: 'customers',
    verb: 'erase',
    about: 'erases personal data, of later re-sends too',
    method: 'DELETE',
    path: 'accounts/ACCOUNT/customers/CUSTOMER_ID/personal-data',
    show: fields,
    lost: 'The personal data of CUSTOMER_ID of ACCOUNT is lost for good.',
  },
  {
    noun: 'attribution',
    about: 'customers of each day, by where they came from',
    method: 'GET',
    path: 'accounts/ACCOUNT/attribution',
    options: SPAN,
    show: rows(),
  },
  {
    noun: 'clicks',
    about: 'visitors of each day, by link',
    method: 'GET',
    path: 'accounts/ACCOUNT/clicks',
    options: SPAN,
    show: rows(),
  },
  list({
    noun: 'erasures',
    verb: 'list',
    about: 'the customers that were erased',
    path: 'accounts/ACCOUNT/erasures',
    show: rows(),
  }),
  {
    noun: 'erasures',
    verb: 'replay',
    about: 'erases all of them again, after a restore',
    method: 'POST',
    path: 'erasures/replay',
    options: { account: { hint: 'A', about: 'of this account only' } },
    show: fields,
  },
]
