import { ORIGIN } from '../../../../src/docs/origin.ts'
import {
  type Media,
  nameOf,
  type Operation,
  type Parameter,
  type Schema,
  type Spec,
} from '../spec.ts'

/** A value that the schema takes: its own example, or one of its parts. */
export function sampleOf(schema: Schema, spec: Spec): unknown {
  const { $ref, examples = [], anyOf, items, properties } = schema
  if (examples.length > 0) return examples[0]
  if ($ref) return sampleOf(spec.components.schemas[nameOf($ref)]!, spec)
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return schema.enum[0]
  if (anyOf) return sampleOf(anyOf[0]!, spec)
  if (items) return [sampleOf(items, spec)]
  if (schema.type === 'object') {
    return Object.fromEntries(
      Object.entries(properties ?? {}).map(([name, field]) => [name, sampleOf(field, spec)]),
    )
  }
  if (schema.type === 'boolean') return false
  return schema.type === 'integer' || schema.type === 'number' ? 1 : '…'
}

/** A body that can be sent, as text. */
export function bodyOf(media: Media, spec: Spec): string {
  const [given] = Object.values(media.examples ?? {})
  return JSON.stringify(given?.value ?? sampleOf(media.schema, spec), null, 2)
}

/** The members of a form, with what each may be. */
export const formOf = ({ schema }: Media) => Object.entries(schema.properties ?? {})

/** The path with the examples of its parameters in it. */
const pathOf = (path: string, parameters: readonly Parameter[]) =>
  path.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const { example } = parameters.find((one) => one.in === 'path' && one.name === name) ?? {}
    return example === undefined ? whole : encodeURIComponent(String(example))
  })

const WITH: Record<string, string> = {
  oauth: '-H "Authorization: Bearer $TOKEN"',
  brandToken: '-H "x-api-key: $BRAND_TOKEN"',
  adminKey: '-H "Authorization: Bearer $ADMIN_KEY"',
}

/** What a form is sent with, where the value is not ours to choose. */
const FROM: Record<string, string> = {
  grant_type: 'client_credentials',
  client_id: '$CLIENT_ID',
  client_secret: '$CLIENT_SECRET',
  token: '$TOKEN',
}

/** Who may ask, by the first way of saying so; nobody is asked of what is open. */
export const schemeOf = ({ security }: Operation) => Object.keys(security[0] ?? {})[0]

/** The request as a line of curl, to be pasted. */
export function curlOf(
  path: string,
  method: string,
  operation: Operation,
  parameters: readonly Parameter[],
  spec: Spec,
): string {
  const query = parameters
    .filter((one) => one.in === 'query' && one.required)
    .map(({ name, example }) => `${name}=${example}`)
  const address = `${ORIGIN}${pathOf(path, parameters)}${query.length > 0 ? `?${query.join('&')}` : ''}`
  const [[type = '', media] = []] = Object.entries(operation.requestBody?.content ?? {})
  const scheme = schemeOf(operation)
  const isForm = type === 'application/x-www-form-urlencoded'
  return [
    `curl -s${method === 'get' || isForm ? '' : ` -X ${method.toUpperCase()}`}`,
    `'${address}'`,
    scheme && WITH[scheme],
    ...(media && isForm
      ? formOf(media)
          .filter(([name]) => FROM[name])
          .map(([name]) => `-d "${name}=${FROM[name]}"`)
      : []),
    media &&
      !isForm &&
      `-H 'Content-Type: ${type}' -d '${bodyOf(media, spec).replaceAll("'", "'\\''")}'`,
  ]
    .filter(Boolean)
    .join(' \\\n  ')
}
