import type { JsonSchema } from '../types.ts'

const TEXT: JsonSchema = { type: 'string', minLength: 1 }

const parameterIn =
  (place: 'path' | 'header') =>
  (name: string, description: string, example?: unknown, schema: JsonSchema = TEXT) => ({
    name,
    in: place,
    ...(place === 'path' && { required: true }),
    description,
    schema,
    ...(example !== undefined && { example }),
  })
const path = parameterIn('path')
const header = parameterIn('header')

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
}

const account = (description: string, example: string) => path('account', description, example)

const PATH: Record<string, object> = {
  account: account('The id of the account.', 'demo-forex'),
  brand_account: account('The id of the account. It must be a brand.', 'demo-brand'),
  test_account: account('The id of the account. Its mode must be `test`.', 'demo-prop'),
}

/** All parameters, by the names of their components. */
export const PARAMETERS: Record<string, object> = { ...HEADER, ...PATH }
