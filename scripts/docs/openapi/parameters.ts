import type { JsonSchema } from '../types.ts'

const TEXT: JsonSchema = { type: 'string', minLength: 1 }
const DAY: JsonSchema = { type: 'string', format: 'date' }

const parameterIn =
  (place: 'query' | 'path' | 'header') =>
  (name: string, description: string, example?: unknown, schema: JsonSchema = TEXT) => ({
    name,
    in: place,
    ...(place === 'path' && { required: true }),
    description,
    schema,
    ...(example !== undefined && { example }),
  })
const query = parameterIn('query')
const path = parameterIn('path')
const header = parameterIn('header')

const QUERY: Record<string, object> = {
  page: query(
    'page',
    'The page number, from 1. `page` times `per_page` is at most 10,000; a cursor reads on. Do not combine it with `cursor`.',
    1,
    {
      type: 'integer',
      minimum: 1,
      maximum: 10_000,
    },
  ),
  per_page: query(
    'per_page',
    'The number of records on a page. Defaults to 50. A page holds at most 2 MiB: if the records need more, the 400 response says how many fit.',
    100,
    { type: 'integer', minimum: 1, maximum: 500 },
  ),
  cursor: query(
    'cursor',
    'The `meta.next_cursor` of the previous page. Valid for the same account, resource and filters.',
  ),
  customer_id: query('customer_id', 'Returns only the records of this customer.', 'C-1001', {
    type: 'string',
  }),
  customerid: query('customerid', 'Returns only the records of this customer.', 'P-1001', {
    type: 'string',
  }),
  from: query('from', 'The first day.', '2026-10-01', DAY),
  to: query('to', 'The last day, inclusive.', '2026-10-31', DAY),
  id_query: {
    ...query('customer_id', 'The `customer_id`, as you sent it.', 'C-1001'),
    required: true,
  },
  transaction_query: {
    ...query('transaction_id', 'The `transaction_id`, as you sent it.', 'T-5001'),
    required: true,
  },
  player_query: {
    ...query('customerid', 'The `customerId`, as you sent it.', 'P-1001'),
    required: true,
  },
  dry_run: query('dry_run', 'Validate only: same response, nothing stored.', true, {
    type: 'boolean',
  }),
  simulation_cursor: query(
    'cursor',
    'The `meta.next_cursor` of the previous page. Valid for the same account, plan, body and parameters.',
  ),
  back_test_cursor: query(
    'cursor',
    'The `meta.next_cursor` of the previous page. Valid for the same account, rule, body and parameters.',
  ),
  simulated_affiliate: query('affiliate_id', 'Simulates only this affiliate.', 'IB-07'),
  simulation_all: query('all', 'Whether rows without a difference are listed, too.', true, {
    type: 'boolean',
    default: false,
  }),
  simulation_for_all: query(
    'assigned_to_all',
    'Whether the plan is simulated as if every affiliate had it, with all customers, from the first period on. The plan then need not exist.',
    true,
    { type: 'boolean', default: false },
  ),
}

const HEADER: Record<string, object> = {
  Prefer: header(
    'Prefer',
    'Preferences of RFC 7240. `handling=lenient` stores the valid records even if others are invalid. `return=minimal` omits results without warnings or errors.',
    'handling=lenient, return=minimal',
  ),
  'Content-Encoding': header('Content-Encoding', 'The compression of the body.', 'gzip', {
    type: 'string',
    enum: ['gzip', 'identity'],
  }),
  'Idempotency-Key': header(
    'Idempotency-Key',
    'Makes the request safe to repeat. The same key with the same records changes nothing. The same key with other records is refused. Keys do not expire and consist of visible ASCII characters.',
    '2026-10-02/part-1',
    { type: 'string', pattern: '^[!-~]{1,255}$' },
  ),
  'x-d1-bookmark': header(
    'x-d1-bookmark',
    'The same header of an earlier response. It allows a replica that is at least as recent to answer. Without it the primary database answers.',
    undefined,
    { type: 'string', pattern: '^[\\da-f]{8}-[\\da-f]{8}-[\\da-f]{8}-[\\da-f]{32}$' },
  ),
}

const account = (description: string, example: string) => path('account', description, example)

const PATH: Record<string, object> = {
  id: path('id', 'The `customer_id`, as you sent it.', 'C-1001'),
  transaction: path('id', 'The `transaction_id`, as you sent it.', 'T-5001'),
  player: path('id', 'The `customerId`, as you sent it.', 'P-1001'),
  account: account('The id of the account.', 'demo-forex'),
  brand_account: account('The id of the account. It must be a brand.', 'demo-brand'),
  test_account: account('The id of the account. Its mode must be `test`.', 'demo-prop'),
  rule: path('rule', 'The id of the rule: 1 to 63 of a-z, 0-9 and hyphens.', 'minimum-deposit'),
  plan: path('plan', 'The id of the plan: 1 to 63 of a-z, 0-9 and hyphens.', 'standard-ib'),
  customer_path: path('customer_id', 'The id of the customer, as the account sent it.', 'C-1001'),
}

/** All parameters, by the names of their components. */
export const PARAMETERS: Record<string, object> = { ...QUERY, ...HEADER, ...PATH }
