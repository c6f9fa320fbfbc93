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

/** The header with the credential, whose last part an environment variable holds. */
const CREDENTIALS: Record<string, readonly [header: string, prefix: string, variable: string]> = {
  oauth: ['Authorization', 'Bearer ', 'TOKEN'],
  brandToken: ['x-api-key', '', 'BRAND_TOKEN'],
  affiliateKey: ['Authorization', 'Bearer ', 'AFFILIATE_KEY'],
  adminKey: ['Authorization', 'Bearer ', 'ADMIN_KEY'],
}

/** The values of a form: a text, or the variable that holds it. */
const FORM_VALUES: Record<string, { text: string } | { variable: string }> = {
  grant_type: { text: 'client_credentials' },
  client_id: { variable: 'CLIENT_ID' },
  client_secret: { variable: 'CLIENT_SECRET' },
  token: { variable: 'TOKEN' },
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

/** The sample request of an operation, from the examples of its parameters and its body. */
interface Request {
  method: string
  url: string
  credential?: readonly [header: string, prefix: string, variable: string]
  form?: readonly string[]
  body?: { type: string; value: unknown }
}

function requestOf({ path, method, operation }: Endpoint, spec: Spec): Request {
  const [[type = '', media] = []] = Object.entries(operation.requestBody?.content ?? {})
  const credential = CREDENTIALS[schemeOf(operation) ?? '']
  const request = {
    method: method.toUpperCase(),
    url: urlOf(path, parametersOf(operation, spec)),
    ...(credential && { credential }),
  }
  if (!media) return request
  if (type !== 'application/x-www-form-urlencoded')
    return { ...request, body: { type, value: bodyOf(media, spec) } }
  const names = Object.keys(media.schema.properties ?? {})
  return { ...request, form: names.filter((name) => FORM_VALUES[name]) }
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

function shell({ method, url, credential, form, body }: Request): string {
  const isImplied = method === (form || body ? 'POST' : 'GET')
  const data = typeof body?.value === 'string' ? body.value : JSON.stringify(body?.value, null, 2)
  return [
    `curl -s${isImplied ? '' : ` -X ${method}`}`,
    quoted(url),
    ...(credential ? [`-H "${credential[0]}: ${credential[1]}$${credential[2]}"`] : []),
    ...(form ?? []).map((name) => {
      const value = FORM_VALUES[name]!
      return `-d "${name}=${'text' in value ? value.text : `$${value.variable}`}"`
    }),
    ...(body ? [`-H "Content-Type: ${body.type}"`, `--data-binary ${quoted(data)}`] : []),
  ].join(' \\\n  ')
}

/** Indents all lines but the first. */
const indented = (text: string, by: number) => text.replaceAll('\n', `\n${' '.repeat(by)}`)

function typescript({ method, url, credential, form, body }: Request): string {
  const headers = [
    ...(credential
      ? [`'${credential[0]}': \`${credential[1]}\${process.env.${credential[2]}}\``]
      : []),
    ...(body ? [`'Content-Type': '${body.type}'`] : []),
  ]
  const fields = (form ?? []).map((name) => {
    const value = FORM_VALUES[name]!
    const text = 'text' in value ? `'${value.text}'` : `\`\${process.env.${value.variable}}\``
    return `${name}: ${text}`
  })
  const text = JSON.stringify(body?.value, null, 2)
  const options = [
    ...(method === 'GET' ? [] : [`method: '${method}'`]),
    ...(headers.length > 0 ? [`headers: { ${headers.join(', ')} }`] : []),
    ...(form ? [`body: new URLSearchParams({\n    ${fields.join(',\n    ')},\n  })`] : []),
    ...(body
      ? [`body: ${typeof body.value === 'string' ? text : `JSON.stringify(${indented(text, 2)})`}`]
      : []),
  ]
  const init = options.length > 0 ? `, {\n  ${options.join(',\n  ')},\n}` : ''
  return `const response = await fetch('${url}'${init})
console.log(response.status, await response.text())`
}

/** Writes a value as an expression of Python. */
function literal(value: unknown): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value !== 'object') return JSON.stringify(value)
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  const members = Array.isArray(value)
    ? value.map(literal)
    : Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${literal(one)}`)
  if (members.length === 0) return `${open}${close}`
  return `${open}\n  ${members.map((one) => indented(one, 2)).join(',\n  ')},\n${close}`
}

function python({ method, url, credential, form, body }: Request): string {
  const headers = [
    ...(credential
      ? [`"${credential[0]}": f"${credential[1]}{os.environ['${credential[2]}']}"`]
      : []),
    ...(body ? [`"Content-Type": "${body.type}"`] : []),
  ]
  const fields = (form ?? []).map((name) => {
    const value = FORM_VALUES[name]!
    const text = 'text' in value ? `"${value.text}"` : `f"{os.environ['${value.variable}']}"`
    return `"${name}": ${text}`
  })
  const options = [
    `"${url}"`,
    ...(headers.length > 0 ? [`headers={${headers.join(', ')}}`] : []),
    ...(form ? [`data={${fields.join(', ')}}`] : []),
    ...(body
      ? [`${typeof body.value === 'string' ? 'data' : 'json'}=${indented(literal(body.value), 4)}`]
      : []),
  ]
  return `import os
import requests

response = requests.${method.toLowerCase()}(
    ${options.join(',\n    ')},
)
print(response.status_code, response.text)`
}

/** Writes the sample request of an operation in each language. */
export function samplesOf(endpoint: Endpoint, spec: Spec) {
  const request = requestOf(endpoint, spec)
  return [
    { title: 'Shell', language: 'bash', code: shell(request) },
    { title: 'TypeScript', language: 'typescript', code: typescript(request) },
    { title: 'Python', language: 'python', code: python(request) },
  ]
}
