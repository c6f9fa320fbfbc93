import { ORIGIN } from '../../../../src/platform/documents/origin.ts'
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
function bodyOf(media: Media, spec: Spec): unknown {
  const [example] = Object.values(media.examples ?? {})
  return example?.value ?? sampleOf(media.schema, spec)
}

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

/** The headers with the credentials, which environment variables hold. */
const CREDENTIALS: Record<string, string> = {
  oauth: 'Authorization: Bearer $TOKEN',
  brandToken: 'x-api-key: $BRAND_TOKEN',
  affiliateKey: 'Authorization: Bearer $AFFILIATE_KEY',
  adminKey: 'Authorization: Bearer $ADMIN_KEY',
}

const FORM_VALUES: Record<string, string> = {
  grant_type: 'client_credentials',
  client_id: '$CLIENT_ID',
  client_secret: '$CLIENT_SECRET',
  token: '$TOKEN',
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

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

/** Returns the options of curl for a body: the fields of a form, JSON, or other text. */
function dataOf(type: string, media: Media, spec: Spec): string[] {
  if (type === 'application/x-www-form-urlencoded') {
    return Object.keys(media.schema.properties ?? {}).flatMap((name) =>
      FORM_VALUES[name] ? [`-d "${name}=${FORM_VALUES[name]}"`] : [],
    )
  }
  const body = bodyOf(media, spec)
  const data = typeof body === 'string' ? body : JSON.stringify(body, null, 2)
  return [`-H "Content-Type: ${type}"`, `--data-binary ${quoted(data)}`]
}

/** Writes the sample request of an operation, from the examples of its parameters and its body. */
export function curl({ path, method, operation }: Endpoint, spec: Spec): string {
  const [[type = '', media] = []] = Object.entries(operation.requestBody?.content ?? {})
  const credential = CREDENTIALS[schemeOf(operation) ?? '']
  const isImplied = method === (media ? 'post' : 'get')
  return [
    `curl -s${isImplied ? '' : ` -X ${method.toUpperCase()}`}`,
    quoted(urlOf(path, parametersOf(operation, spec))),
    ...(credential ? [`-H "${credential}"`] : []),
    ...(media ? dataOf(type, media, spec) : []),
  ].join(' \\\n  ')
}
