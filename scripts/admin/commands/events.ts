import { misuse } from '../../push/halt.ts'
import type { Command, Options, Said } from '../command.ts'
import { done, fields, rows } from '../show.ts'
import { pairsOf } from './parts.ts'

const EVENT: Options = {
  granularity: { hint: 'event|day', about: 'single events, or daily aggregates', required: true },
  eventid: { hint: 'required|used|ignored', about: 'what becomes of eventid; otherwise used' },
  kpi: { hint: 'K', about: 'a field that is a KPI', many: true },
  'product-field': { hint: 'F', about: 'the field that says the product line' },
  product: {
    hint: 'Sent=casino',
    about: 'what is sent for casino, sports, poker or bingo',
    many: true,
  },
  currency: { hint: 'C', about: 'where an event names none' },
}

function definitionOf(said: Said) {
  const { granularity, eventid, currency, 'product-field': fieldSaid = [] } = said.options
  const { kpi: kpis, product: products = [] } = said.options
  const [field] = fieldSaid
  if ((field === undefined) !== (products.length === 0)) {
    throw misuse('--product-field and --product need each other.')
  }
  return {
    granularity: granularity?.[0],
    eventid: eventid?.[0],
    kpis,
    ...(field !== undefined && { product: { field, map: pairsOf(products, 'Sent=casino') } }),
    currency: currency?.[0],
  }
}

/** How the events of brands are read. */
export const EVENTS: readonly Command[] = [
  {
    noun: 'events',
    verb: 'list',
    about: 'how the events of a brand are read',
    method: 'GET',
    path: 'accounts/ACCOUNT/events',
    show: rows(),
  },
  {
    noun: 'events',
    verb: 'put',
    about: 'sets one as a whole, for what arrives later',
    method: 'PUT',
    path: 'accounts/ACCOUNT/events/NAME',
    options: EVENT,
    body: definitionOf,
    show: fields,
  },
  {
    noun: 'events',
    verb: 'delete',
    about: 'events of that name have no definition then',
    method: 'DELETE',
    path: 'accounts/ACCOUNT/events/NAME',
    show: done('Events NAME of ACCOUNT have no definition any more.'),
  },
]
