import type { JsonSchema } from '../types.ts'

const TEXT: JsonSchema = { type: 'string', minLength: 1 }
const DAY: JsonSchema = { type: 'string', format: 'date' }

const at =
  (where: 'query' | 'path' | 'header') =>
  (name: string, description: string, example?: unknown, schema: JsonSchema = TEXT) => ({
    name,
    in: where,
    ...(where === 'path' && { required: true }),
    description,
    schema,
    ...(example !== undefined && { example }),
  })
const query = at('query')
const path = at('path')
const header = at('header')

/** All parameters, by the names of their components. */
export const PARAMETERS: Record<string, object> = {
  page: query('page', 'Which page, from 1. Not with `cursor`.', 1, {
    type: 'integer',
    minimum: 1,
    maximum: 1_000_000,
  }),
  per_page: query(
    'per_page',
    'How many a page has; 50 if left out. Of records above 2 MiB together there must be fewer: 400 says how many.',
    100,
    {
      type: 'integer',
      minimum: 1,
      maximum: 500,
    },
  ),
  cursor: query(
    'cursor',
    'The `meta.next_cursor` of the page before; good for the same account, resource and filters.',
  ),
  customer_id: query('customer_id', 'Only what is of this customer.', 'C-1001', {
    type: 'string',
  }),
  customerid: query('customerid', 'Only what is of this customer.', 'P-1001', { type: 'string' }),
  from: query('from', 'The first day.', '2026-10-01', DAY),
  to: query('to', 'The last day, inclusive.', '2026-10-31', DAY),
  from_day: { ...query('from', 'The first day.', '2026-10-01', DAY), required: true },
  to_day: {
    ...query(
      'to',
      'The last day, inclusive; at most 366 days, 50,000 groups and 50,000 sums of KPIs, and 2 MiB of either.',
      '2026-10-31',
      DAY,
    ),
    required: true,
  },
  dry_run: query('dry_run', 'Whether it is only judged: the same answer, nothing stored.', true, {
    type: 'boolean',
  }),
  account_query: query('account', 'Only what is of this account.', 'acme'),
  Prefer: header(
    'Prefer',
    'RFC 7240. `handling=lenient`: the good records of a request are stored although others are wrong. `return=minimal`: the answer keeps only what carries a warning or an error.',
    'handling=lenient, return=minimal',
  ),
  'Content-Encoding': header('Content-Encoding', 'How the body is packed, if it is.', 'gzip', {
    type: 'string',
    enum: ['gzip', 'identity'],
  }),
  'Idempotency-Key': header(
    'Idempotency-Key',
    'Makes the request repeatable, for good: the same key with the same records is answered as any repeat, with other records refused. Visible ASCII.',
    '2026-10-02/part-1',
    { type: 'string', pattern: '^[!-~]{1,255}$' },
  ),
  'x-d1-bookmark': header(
    'x-d1-bookmark',
    'The same header of an earlier answer: a replica that is at least as far may answer. Without it the primary does.',
    undefined,
    { type: 'string', pattern: '^[\\da-f]{8}-[\\da-f]{8}-[\\da-f]{8}-[\\da-f]{32}$' },
  ),
  'If-None-Match': header('If-None-Match', 'The `ETag` of what you have.'),
  id: path('id', 'Its `customer_id`, as it was sent.', 'C-1001'),
  transaction: path('id', 'Its `transaction_id`, as it was sent.', 'T-5001'),
  player: path('id', 'Its `customerId`, as it was sent.', 'P-1001'),
  delivery_id: path('delivery_id', 'What its answer said.', 'dlv_01M7W0R4W8E3V15G8XPED3Z94X'),
  account: path('account', 'The id of the account.', 'acme'),
  client_id: path('client_id', 'The OAuth client.'),
  token_id: path('token_id', 'What the Brand Token is known by; not the token itself.'),
  link_id: path('link_id', 'The link.'),
  eventname: path('eventname', 'The name of the event.', 'DailyStats'),
  customer_path: path('customer_id', 'The customer, as the account names it.', 'C-1001'),
  page_name: path('page', 'The name of the page.', 'start'),
  code: path('code', 'The code of the problem.', 'validation_failed'),
  vertical: path('vertical', 'The vertical.', 'forex', {
    type: 'string',
    enum: ['prop-trading', 'forex', 'igaming'],
  }),
  entity_file: path('file', 'The entity.', 'customer.json'),
  envelope_file: path('file', 'The envelope.', 'result.json', {
    type: 'string',
    enum: ['bulk.json', 'result.json', 'list.json', 'problem.json'],
  }),
  file: path('file', 'The name of the file.', 'page.css'),
}

/** A header of an answer. */
const said = (description: string, schema: JsonSchema, required = false) => ({
  description,
  ...(required && { required }),
  schema,
})

/** All headers of answers, by name. */
export const HEADERS: Record<string, object> = {
  'X-Request-Id': said(
    'Names this request; quote it when you ask for help.',
    { type: 'string', format: 'uuid' },
    true,
  ),
  'RateLimit-Policy': said('How many requests a token has in how many seconds.', {
    type: 'string',
    const: '"token";q=1000;w=60',
  }),
  RateLimit: said('How many are left (`r`), and in how many seconds there are more (`t`).', {
    type: 'string',
    pattern: '^"token";r=\\d+;t=\\d+$',
  }),
  'Retry-After': said(
    'In how many seconds to repeat the request.',
    { type: 'integer', minimum: 1 },
    true,
  ),
  'WWW-Authenticate': said('How to say who you are.', { type: 'string' }),
  'x-d1-bookmark': said('How far the database is: send it with a read that should see this.', {
    type: 'string',
  }),
  Link: said('The next page, with `rel="next"` (RFC 8288); absent on the last one.', {
    type: 'string',
  }),
  'Preference-Applied': said('Which preferences were honoured (RFC 7240).', { type: 'string' }),
  'Accept-Encoding': said('How a body may be packed, where that was wrong.', { type: 'string' }),
  'Cache-Control': said('How long it may be kept.', { type: 'string' }),
  Pragma: said('`no-cache`.', { type: 'string' }),
  ETag: said('Changes when the document does.', { type: 'string' }, true),
  Location: said('Where to go.', { type: 'string', format: 'uri' }, true),
  'Referrer-Policy': said('`no-referrer`.', { type: 'string' }),
  'Content-Security-Policy': said('Pages ask nobody else, and run no script but ours.', {
    type: 'string',
  }),
  'X-Content-Type-Options': said('`nosniff`.', { const: 'nosniff' }),
  'Strict-Transport-Security': said('HTTPS only, for two years; not in local development.', {
    type: 'string',
  }),
}
