import type { JsonSchema } from '../types.ts'

const header = (description: string, schema: JsonSchema = { type: 'string' }) => ({
  description,
  schema,
})

const requiredHeader = (description: string, schema?: JsonSchema) => ({
  ...header(description, schema),
  required: true,
})

/** All response headers, by name. */
export const HEADERS: Record<string, object> = {
  'X-Request-Id': requiredHeader('The id of this request. Quote it when you ask for support.', {
    type: 'string',
    format: 'uuid',
  }),
  'RateLimit-Policy': header('The request quota of a token (`q`) in a window of seconds (`w`).', {
    type: 'string',
    const: '"token";q=1000;w=60',
  }),
  RateLimit: header('The remaining requests (`r`), and the seconds until there are more (`t`).', {
    type: 'string',
    pattern: '^"token";r=\\d+;t=\\d+$',
  }),
  'Retry-After': requiredHeader('The seconds to wait before you repeat the request.', {
    type: 'integer',
    minimum: 1,
  }),
  'WWW-Authenticate': header('The required authentication scheme.'),
  Link: header('The next page, with `rel="next"` (RFC 8288). Absent on the last page.'),
  'Preference-Applied': header('The preferences that the service applied (RFC 7240).'),
  'Accept-Encoding': header('The supported compressions, after a request with another one.'),
  'Cache-Control': header('How long the response may be cached.'),
  Pragma: header('`no-cache`.'),
  ETag: requiredHeader('Identifies this version of the document.'),
  'Content-Disposition': header('The name of a file (RFC 6266). Absent in formats that are none.'),
  'Payouts-Held': header(
    'The number of payouts that cases of the fraud review hold, as a whole or in part. Only with CSV; absent if nothing is held.',
    { type: 'string', pattern: '^\\d+$' },
  ),
  'Payouts-Held-Amount': header('What is held of each currency, such as `40.50 EUR, 7.00 USD`.'),
  'Referrer-Policy': header('`no-referrer`.'),
  'Content-Security-Policy': header(
    'Restricts the page to its own scripts and styles and to requests to this service.',
  ),
  'X-Content-Type-Options': header('`nosniff`.', { const: 'nosniff' }),
  'Strict-Transport-Security': header('Requires HTTPS for two years. Absent in local development.'),
}
