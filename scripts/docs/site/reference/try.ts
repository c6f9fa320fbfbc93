import { type Html, html, type Part } from '../html.ts'
import { inline } from '../markdown.ts'
import type { Media, Parameter, Schema, Spec } from '../spec.ts'
import type { Endpoint } from './pages.ts'
import { bodyOf, formFields, parametersOf, schemeOf } from './sample.ts'

// The form that sends a request from the page. `try.js` submits it.

/** Headers that the form leaves out: it neither compresses a body nor stores a response. */
const UNSUPPORTED = ['Content-Encoding', 'If-None-Match']

const SECRETS = ['client_secret', 'token']

interface Field {
  name: string
  /** The part of the request that the value belongs to: `path`, `query`, `header` or `form`. */
  target: string
  id: string
  required: boolean
  schema: Schema
  value: string
  /** The list that holds valid values, and the member of its items. */
  source?: { path: string; member: string }
}

function inputOf({ name, target, id, required, schema, value, source }: Field): Html {
  const values = schema.type === 'boolean' ? ['true', 'false'] : schema.enum?.map(String)
  const from = source && html` data-list="${source.path}" data-member="${source.member}"`
  const attributes = html`id="${id}" name="${name}" data-target="${target}"${required && html` required`}${from}`
  const type = SECRETS.includes(name) ? 'password' : 'text'
  return html`<p><label for="${id}">${name}${required && ' (required)'}</label>
${
  values
    ? html`<select ${attributes}><option value=""></option>${values.map(
        (one) => html`<option${one === value && html` selected`}>${one}</option>`,
      )}</select>`
    : html`<input ${attributes} value="${value}" type="${type}" autocomplete="off" spellcheck="false">`
}</p>
`
}

/** Members that hold the identity of a listed item, where the parameter has another name. */
const MEMBERS: readonly (readonly [RegExp, string])[] = [
  [/\/transactions\/\{id\}/, 'transaction_id'],
  [/^\/tracking\/events\/customers\/\{id\}/, 'customerId'],
  [/\/customers\/\{id\}/, 'customer_id'],
  [/\/brand-tokens\/\{token_id\}/, 'id'],
  [/\/statements\/\{statement_id\}/, 'id'],
  [/\/(keys|invitations|members)\/\{\w+\}/, 'id'],
]

/**
 * Returns the list that names valid values of a path parameter: `GET …/clients` for
 * `…/clients/{client_id}`. Returns undefined where the API has no such list, and for a `PUT` that
 * creates what the parameter names.
 */
function sourceOf({ path, method }: Endpoint, name: string, spec: Spec): Field['source'] {
  if (method === 'put' && path.endsWith(`/{${name}}`)) return undefined
  const list = path.slice(0, path.indexOf(`/{${name}}`))
  // No list names lines, so one below a line cannot be read before the reader has typed its id.
  if (list.includes('{line_id}')) return undefined
  const [, member = name] = MEMBERS.find(([pattern]) => pattern.test(`${list}/{${name}}`)) ?? []
  const listing = spec.paths[list]?.get
  // A list that needs a query cannot be read before the reader has typed it.
  const needed = listing ? parametersOf(listing, spec).filter((one) => one.required) : []
  if (needed.some((one) => one.in === 'query')) return undefined
  const isList = JSON.stringify(listing?.responses['200'] ?? '').includes('"data"')
  // Demo accounts have fixed ids, and a sample may need a brand or a partner.
  return isList && name !== 'account' ? { path: list, member } : undefined
}

const parameterField = (endpoint: Endpoint, one: Parameter, spec: Spec): Field => {
  const source = one.in === 'path' ? sourceOf(endpoint, one.name, spec) : undefined
  return {
    name: one.name,
    target: one.in,
    id: `${endpoint.operation.operationId}-${one.name}`,
    required: one.required ?? false,
    schema: one.schema,
    value: one.required && one.example !== undefined ? String(one.example) : '',
    ...(source && { source }),
  }
}

const formField = (operationId: string, media: Media, name: string, schema: Schema): Field => ({
  name,
  target: 'form',
  id: `${operationId}-${name}`,
  required: media.schema.required?.includes(name) ?? false,
  schema,
  value: schema.const === undefined ? '' : String(schema.const),
})

/** Returns a body as text: CSV as it is, any other as JSON. */
const textOf = (body: unknown) => (typeof body === 'string' ? body : JSON.stringify(body, null, 2))

const NEEDS_RECORDS = /\/\{(id|delivery_id|customer_id)\}/

const RECORDS = '[Send the sample records](#credentials)'
const FOREX_RECORDS =
  '[Send the sample records of the forex page](/docs/reference/forex-records#credentials)'

/** Explains what a first request needs, if its sample refers to a record. */
function prerequisiteOf({ path, method }: Endpoint): string | undefined {
  if (path.startsWith('/go/')) return 'Enter the id of a link. `npm run dev` prints one.'
  if (path.includes('/{line_id}')) return 'Enter the id of a line of a statement.'
  if (path.includes('/{run_id}')) return 'Enter the id of a run that you have started.'
  const refersToCustomer = method === 'post' && /(transactions|activity|activities)$/.test(path)
  if (!refersToCustomer && !NEEDS_RECORDS.test(path)) return undefined
  return path.startsWith('/admin/')
    ? `${FOREX_RECORDS} first, so that the account has data.`
    : `${RECORDS} first, so that the data of this sample exists.`
}

/** Renders the form of an operation. Its sample values succeed with the demo accounts. */
export function tryForm(endpoint: Endpoint, spec: Spec): Part {
  const { path, method, operation } = endpoint
  const { operationId, summary, requestBody } = operation
  const [[type = '', media] = []] = Object.entries(requestBody?.content ?? {})
  const isForm = type === 'application/x-www-form-urlencoded'
  const note = prerequisiteOf(endpoint)
  const fields = [
    ...parametersOf(operation, spec)
      .filter(({ name }) => !UNSUPPORTED.includes(name))
      .map((one) => parameterField(endpoint, one, spec)),
    ...(media && isForm
      ? formFields(media).map(([name, schema]) => formField(operationId, media, name, schema))
      : []),
  ]
  const body = `${operationId}-body`
  return html`<details class="try">
<summary>Try it<span class="away">: ${summary} (${operationId})</span></summary>
<form method="post" data-method="${method.toUpperCase()}" data-path="${path}" data-scheme="${schemeOf(operation) ?? ''}" data-type="${type}">
${note && html`<p class="note">${inline(note)}</p>\n`}${fields.map(inputOf)}${
  media &&
  !isForm &&
  html`<p><label for="${body}">Body</label>
<textarea id="${body}" name="body" rows="8" spellcheck="false">
${textOf(bodyOf(media, spec))}</textarea></p>
`
}<p><button type="submit">Send <span class="away">${operationId}</span></button></p>
<div class="answer" role="status"></div>
</form>
</details>
`
}
