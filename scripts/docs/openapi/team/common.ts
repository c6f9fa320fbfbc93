import type { ErrorCode } from '../../../../src/errors.ts'
import type { JsonSchema } from '../../types.ts'
import { LISTED, listOf, type Operation, ref } from '../operation.ts'

/** Where the types are. */
export const AT = '#/components/schemas/'
/** Where what belongs to one account is. */
export const OWN = '/admin/v1/accounts/{account}'

/** A count. */
export const COUNT: JsonSchema = { type: 'integer', minimum: 0 }

type Said = Pick<Operation, 'method' | 'path' | 'id' | 'summary' | 'description' | 'answers'> &
  Partial<Operation>

/** What a parameter is called among the components, where its name is that of another. */
const IN_PATH: Record<string, string> = { customer_id: 'customer_path' }

/** An operation of the team: what names an account may name one that is not there. */
export function op({ path, method, fails = [], parameters = [], body, ...said }: Said): Operation {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const writes = method !== 'get'
  const codes: readonly ErrorCode[] = [
    'invalid_query',
    ...(inPath.length > 0 ? (['not_found'] as const) : []),
    ...(writes ? (['unsupported_media_type'] as const) : []),
    ...(body ? (['malformed_json', 'payload_too_large', 'validation_failed'] as const) : []),
    ...fails,
  ]
  return {
    tag: 'administration',
    who: 'team',
    ...said,
    method,
    path,
    ...(body && { body: { required: true, ...body } }),
    parameters: [...inPath.map((name) => IN_PATH[name] ?? name), ...parameters],
    fails: codes,
  }
}

/** What was made. */
export const made = (description: string, name: string) => ({
  201: { description, schema: ref(name) },
})
/** What there is. */
export const shown = (description: string, schema: JsonSchema) => ({ 200: { description, schema } })
/** One page of what there is. */
export const paged = (description: string, schema: JsonSchema) => ({
  200: { description, schema: listOf(schema), headers: LISTED.slice(1) },
})
/** No more to say. */
export const GONE = { 204: { description: 'Done; there is nothing to say.' } }
