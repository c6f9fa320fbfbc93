import { ORIGIN } from '../../../../src/docs/origin.ts'
import {
  type Answer,
  type Media,
  nameOf,
  type Operation,
  type Parameter,
  type Schema,
  type Spec,
} from '../spec.ts'
import type { Endpoint } from './pages.ts'

/** Returns a value that the schema accepts: its own example, or one composed of its parts. */
export function sampleOf(schema: Schema, spec: Spec): unknown {
  const { $ref, examples = [], anyOf, allOf, items, properties, format } = schema
  if (examples.length > 0) return examples[0]
  const component = $ref ? spec.components.schemas[nameOf($ref)] : undefined
  if (component) return sampleOf(component, spec)
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return schema.enum[0]
  const [part] = anyOf ?? allOf ?? []
  if (part) return sampleOf(part, spec)
  if (items) return [sampleOf(items, spec)]
  if (properties) {
    return Object.fromEntries(
      Object.entries(properties).map(([name, field]) => [name, sampleOf(field, spec)]),
    )
  }
  const [type] = [schema.type ?? 'object'].flat()
  return (SIMPLE[format ?? ''] ?? SIMPLE[type ?? '']) as unknown
}

const SIMPLE: Record<string, unknown> = {
  'date-time': '2026-10-05T09:00:00.000Z',
  date: '2026-10-05',
  uri: 'https://example.com',
  string: '…',
  boolean: false,
  integer: 1,
  number: 1,
  array: [],
  object: {},
}

/** Returns the first example of a body, or a sample of its schema. */
export function bodyOf(media: Media, spec: Spec): unknown {
  const [example] = Object.values(media.examples ?? {})
  return example?.value ?? sampleOf(media.schema, spec)
}

/** Lists the fields of a form. */
export const formFields = ({ schema }: Media) => Object.entries(schema.properties ?? {})

/** Returns the first security scheme of an operation, or undefined if it is public. */
export const schemeOf = ({ security }: Operation) => Object.keys(security[0] ?? {})[0]

/** Resolves the parameters of an operation. */
export const parametersOf = ({ parameters = [] }: Operation, spec: Spec): Parameter[] =>
  parameters.map((one) => (one.$ref && spec.components.parameters[nameOf(one.$ref)]) || one)

/** Resolves the answers of an operation, by status. */
export const answersOf = ({ responses }: Operation, spec: Spec): [string, Answer][] =>
  Object.entries(responses).map(([status, answer]) => [
    status,
    (answer.$ref && spec.components.responses[nameOf(answer.$ref)]) || answer,
  ])

/** A value of a sample request: text, or an environment variable behind a prefix. */
export type Value = string | { prefix: string; variable: string }

/** A sample request, before it is written in a language. */
export interface SampleRequest {
  method: string
  url: string
  headers: [string, Value][]
  json?: unknown
  /** A body that is neither JSON nor a form. */
  text?: string
  form?: [string, Value][]
  /** Whether the answer is JSON, other text, or a redirect. */
  answer: 'json' | 'text' | 'redirect'
}

const CREDENTIALS: Record<string, [string, Value]> = {
  oauth: ['Authorization', { prefix: 'Bearer ', variable: 'TOKEN' }],
  brandToken: ['x-api-key', { prefix: '', variable: 'BRAND_TOKEN' }],
  affiliateKey: ['Authorization', { prefix: 'Bearer ', variable: 'AFFILIATE_KEY' }],
  adminKey: ['Authorization', { prefix: 'Bearer ', variable: 'ADMIN_KEY' }],
}

const FORM_VALUES: Record<string, Value> = {
  grant_type: 'client_credentials',
  client_id: { prefix: '', variable: 'CLIENT_ID' },
  client_secret: { prefix: '', variable: 'CLIENT_SECRET' },
  token: { prefix: '', variable: 'TOKEN' },
}

function urlOf(path: string, parameters: readonly Parameter[]): string {
  const filled = path.replace(/\{(\w+)\}/g, (placeholder, name: string) => {
    const { example } = parameters.find((one) => one.in === 'path' && one.name === name) ?? {}
    return example === undefined ? placeholder : encodeURIComponent(String(example))
  })
  const query = parameters
    .filter((one) => one.in === 'query' && one.required)
    .map(({ name, example }) => `${name}=${example}`)
  return `${ORIGIN}${filled}${query.length > 0 ? `?${query.join('&')}` : ''}`
}

function answerKind({ responses }: Operation): SampleRequest['answer'] {
  if (responses['302']) return 'redirect'
  const [first] = Object.values(responses)
  const [type = ''] = Object.keys(first?.content ?? {})
  return type.endsWith('json') ? 'json' : 'text'
}

/** Builds the sample request of an operation from the examples of its parameters and its body. */
export function requestOf({ path, method, operation }: Endpoint, spec: Spec): SampleRequest {
  const parameters = parametersOf(operation, spec)
  const [[type = '', media] = []] = Object.entries(operation.requestBody?.content ?? {})
  const isForm = type === 'application/x-www-form-urlencoded'
  const isText = type.startsWith('text/')
  const credential = CREDENTIALS[schemeOf(operation) ?? '']
  return {
    method: method.toUpperCase(),
    url: urlOf(path, parameters),
    headers: [
      ...(credential ? [credential] : []),
      ...(media && !isForm ? [['Content-Type', type] satisfies [string, Value]] : []),
    ],
    ...(media && !isForm && { [isText ? 'text' : 'json']: bodyOf(media, spec) }),
    ...(media &&
      isForm && {
        form: formFields(media).flatMap(([name]): [string, Value][] => {
          const value = FORM_VALUES[name]
          return value === undefined ? [] : [[name, value]]
        }),
      }),
    answer: answerKind(operation),
  }
}
