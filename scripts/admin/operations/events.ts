import { usageError } from '../../exit-error.ts'
import { object } from '../format.ts'
import type { Input, Operation, Options } from '../operation.ts'
import { parsePairs } from './parts.ts'

const PRODUCT_FORM = 'Sent=casino'

const DEFINITION: Options = {
  granularity: {
    value: 'granularity',
    choices: ['event', 'day'],
    description: 'Single events, or daily aggregates.',
    required: true,
  },
  eventid: {
    value: 'use',
    choices: ['required', 'used', 'ignored'],
    description: 'How eventid identifies an event. (default: used)',
  },
  kpi: { value: 'field', description: 'A field that is a KPI. Repeatable.', repeatable: true },
  'product-field': { value: 'field', description: 'The field with the product.' },
  product: {
    value: PRODUCT_FORM,
    description: 'A sent value for casino, sports, poker or bingo. Repeatable.',
    repeatable: true,
  },
  currency: { value: 'code', description: 'The currency of events that name none.' },
  outflow: { description: 'Money leaves with the event, as by a withdrawal.' },
  'status-member': { value: 'field', description: 'The field with the status of an event.' },
}

function definitionOf({ options }: Input) {
  const { granularity, eventid, currency, kpi: kpis, product: products = [] } = options
  const [field] = options['product-field'] ?? []
  if ((field === undefined) !== (products.length === 0)) {
    throw usageError('--product-field and --product must be used together.')
  }
  return {
    granularity: granularity?.[0],
    eventid: eventid?.[0],
    kpis,
    ...(field !== undefined && { product: { field, map: parsePairs(products, PRODUCT_FORM) } }),
    currency: currency?.[0],
    outflow: options.outflow && true,
    status_member: options['status-member']?.[0],
  }
}

/** Event definitions of brands. */
export const EVENTS: readonly Operation[] = [
  {
    noun: 'events',
    verb: 'put',
    summary: 'Replaces an event definition, for events that arrive later.',
    example: 'casino NetRevenue --granularity day --kpi GGR --kpi NGR',
    method: 'PUT',
    path: 'accounts/{account}/events/{eventname}',
    options: DEFINITION,
    body: definitionOf,
    format: object,
  },
]
