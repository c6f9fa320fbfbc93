import type { JsonSchema } from '../types.ts'

const TEXT: JsonSchema = { type: 'string', minLength: 1 }

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
  account: account('The id of the account.', 'demo-forex'),
  brand_account: account('The id of the account. It must be a brand.', 'demo-brand'),
  test_account: account('The id of the account. Its mode must be `test`.', 'demo-prop'),
  rule: path('rule', 'The id of the rule: 1 to 63 of a-z, 0-9 and hyphens.', 'minimum-deposit'),
  plan: path('plan', 'The id of the plan: 1 to 63 of a-z, 0-9 and hyphens.', 'standard-ib'),
}

/** All parameters, by the names of their components. */
export const PARAMETERS: Record<string, object> = { ...QUERY, ...HEADER, ...PATH }
