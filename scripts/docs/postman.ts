import { ORIGIN } from '../../src/docs/origin.ts'
import { recorded } from './examples.ts'
import type { CallerKind, Operation } from './openapi/operation.ts'
import { PARAMETERS } from './openapi/parameters.ts'
import { TAGS } from './openapi/tags.ts'

// Writes the operations as a Postman collection, with a folder for each tag and recorded bodies.

const SCHEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json'

/** The variables of the collection. Users fill them in, or scripts of earlier requests do. */
const VARIABLES = [
  ['baseUrl', ORIGIN],
  ['clientId', ''],
  ['clientSecret', ''],
  ['accessToken', ''],
  ['tokenToRevoke', ''],
  ['deliveryId', ''],
  ['statementId', ''],
  ['lineId', ''],
  ['brandToken', ''],
  ['adminKey', ''],
] as const

const bearer = (variable: string) => ({
  type: 'bearer',
  bearer: [{ key: 'token', value: `{{${variable}}}`, type: 'string' }],
})

const AUTH: Record<CallerKind, object> = {
  anyone: { type: 'noauth' },
  partner: bearer('accessToken'),
  team: bearer('adminKey'),
  brand: {
    type: 'apikey',
    apikey: [
      { key: 'key', value: 'x-api-key', type: 'string' },
      { key: 'value', value: '{{brandToken}}', type: 'string' },
      { key: 'in', value: 'header', type: 'string' },
    ],
  },
}

/** The operations whose responses have values for other requests: the variable, and its value. */
const KEPT: readonly (readonly [operation: RegExp, variable: string, value: string])[] = [
  [/^getToken$/, 'accessToken', 'access_token'],
  [/^send/, 'deliveryId', 'delivery_id'],
  [/^list\w*Statements$/, 'statementId', 'data[0]?.id'],
  [/^get\w*Statement$/, 'lineId', 'lines[0]?.id'],
]

/** The variables of parameters in paths. */
const IN_PATH: Readonly<Record<string, string>> = {
  delivery_id: '{{deliveryId}}',
  statement_id: '{{statementId}}',
  line_id: '{{lineId}}',
}

/** Returns the script that keeps a value of the response in a variable for other requests. */
function responseScript({ id }: Operation) {
  const [, variable, value] = KEPT.find(([operation]) => operation.test(id)) ?? []
  if (!variable) return {}
  const exec = [`pm.collectionVariables.set('${variable}', pm.response.json().${value})`]
  return { event: [{ listen: 'test', script: { type: 'text/javascript', exec } }] }
}

interface Parameter {
  name: string
  in: string
  description: string
  required?: boolean
  example?: unknown
}

const parametersOf = ({ parameters = [] }: Operation, where: string) =>
  parameters
    .map((name) => PARAMETERS[name] as Parameter)
    .filter((parameter) => parameter.in === where)

/** Writes a parameter. Optional parameters are disabled. */
const pair = ({ name, description, required, example = '' }: Parameter) => ({
  key: name,
  value: String(example),
  description,
  ...(!required && { disabled: true }),
})

function urlOf(operation: Operation) {
  const query = parametersOf(operation, 'query').map(pair)
  const variable = parametersOf(operation, 'path').map(({ name, description, example = '' }) => ({
    key: name,
    value: IN_PATH[name] ?? String(example),
    description,
  }))
  const path = operation.path.replaceAll(/\{(\w+)\}/g, ':$1')
  const enabled = query
    .filter((one) => !('disabled' in one))
    .map(({ key, value }) => `${key}=${value}`)
  return {
    raw: `{{baseUrl}}${path}${enabled.length > 0 ? `?${enabled.join('&')}` : ''}`,
    host: ['{{baseUrl}}'],
    path: path.slice(1).split('/'),
    ...(query.length > 0 && { query }),
    ...(variable.length > 0 && { variable }),
  }
}

const FORM: Record<string, string> = {
  client_id: '{{clientId}}',
  client_secret: '{{clientSecret}}',
  token: '{{tokenToRevoke}}',
}

function bodyOf({ id, body }: Operation) {
  if (!body) return {}
  if (body.type?.startsWith('text/')) {
    const [raw] = body.schema.examples as string[]
    return { body: { mode: 'raw', raw } }
  }
  if (body.type) {
    const { properties } = body.schema as { properties: Record<string, { const?: string }> }
    const urlencoded = Object.entries(properties)
      .filter(([name]) => name !== 'scope')
      .map(([key, schema]) => ({ key, value: FORM[key] ?? schema.const ?? '', type: 'text' }))
    return { body: { mode: 'urlencoded', urlencoded } }
  }
  const request = recorded(id).find((one) => one.request !== null)?.request ?? {}
  const raw = JSON.stringify(request, null, 2)
  return { body: { mode: 'raw', raw, options: { raw: { language: 'json' } } } }
}

const request = (operation: Operation) => ({
  name: operation.summary,
  ...responseScript(operation),
  request: {
    method: operation.method.toUpperCase(),
    description: operation.description,
    auth: AUTH[operation.caller],
    header: [
      ...(operation.body
        ? [{ key: 'Content-Type', value: operation.body.type ?? 'application/json' }]
        : []),
      ...parametersOf(operation, 'header')
        // Postman does not compress bodies.
        .filter(({ name }) => name !== 'Content-Encoding')
        .map(pair),
    ],
    url: urlOf(operation),
    ...bodyOf(operation),
  },
})

/** Writes the operations as a Postman collection. */
export function collection(operations: readonly Operation[]) {
  const folders = Map.groupBy(operations, ({ tag }) => tag)
  return {
    info: {
      name: 'Tributary',
      description:
        'Set baseUrl, and the credentials of your requests: clientId with clientSecret, brandToken, or adminKey for the integrations team. "Get an access token" stores the token for the other requests.',
      schema: SCHEMA,
    },
    variable: VARIABLES.map(([key, value]) => ({ key, value, type: 'string' })),
    item: TAGS.map(({ name, description }) => ({
      name,
      description,
      item: (folders.get(name) ?? []).map(request),
    })),
  }
}
