import type { ErrorCode } from '../../../../src/errors.ts'
import type { JsonSchema } from '../../types.ts'
import { type Operation, ref } from '../operation.ts'

/** The location of schemas in the components. */
export const AT = '#/components/schemas/'

/** The path of an account. */
export const ACCOUNT_PATH = '/admin/v1/accounts/{account}'

/** A count. */
export const COUNT: JsonSchema = { type: 'integer', minimum: 0 }

type Draft = Pick<Operation, 'method' | 'path' | 'id' | 'summary' | 'description' | 'answers'> &
  Partial<Operation> & {
    /** The component for the `account` parameter. Its example is an account that fits. */
    accountParameter?: 'account' | 'brand_account' | 'test_account'
  }

/** Completes an operation of the integrations team: its path parameters and its errors. */
export function operation({
  path,
  method,
  errors = [],
  parameters = [],
  body,
  accountParameter = 'account',
  ...draft
}: Draft): Operation {
  const components: Record<string, string> = {
    account: accountParameter,
    customer_id: 'customer_path',
  }
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const described = new Set((draft.inline ?? []).map((one) => (one as { name: string }).name))
  const codes: readonly ErrorCode[] = [
    'invalid_query',
    ...(names.length > 0 ? (['not_found'] as const) : []),
    ...(method === 'get' ? [] : (['unsupported_media_type'] as const)),
    ...(body ? (['malformed_json', 'payload_too_large', 'validation_failed'] as const) : []),
    ...errors,
  ]
  return {
    // `administration.ts` sets the tag: the topic.
    tag: '',
    caller: 'team',
    ...draft,
    method,
    path,
    ...(body && { body: { required: true, ...body } }),
    parameters: [
      ...names.filter((name) => !described.has(name)).map((name) => components[name] ?? name),
      ...parameters,
    ],
    errors: codes,
  }
}

/** Describes the response to a creation. */
export const created = (description: string, name: string) => ({
  201: { description, schema: ref(name) },
})

/** Describes a response with a body. */
export const returned = (description: string, schema: JsonSchema) => ({
  200: { description, schema },
})

/** The response without a body. */
export const NO_CONTENT = { 204: { description: 'Done. The response has no body.' } }
