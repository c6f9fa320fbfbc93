import { type Html, html, type Part } from '../html.ts'
import type { Operation, Parameter, Schema, Spec } from '../spec.ts'
import { bodyOf, formOf, schemeOf } from './sample.ts'

/** Headers that a page cannot set, or must not: it packs no body, and keeps no copy. */
const NOT_HERE = ['Content-Encoding', 'If-None-Match']

const SECRETS = ['client_secret', 'token']

interface Input {
  name: string
  /** Where it goes: `path`, `query`, `header` or `form`. */
  to: string
  id: string
  required: boolean
  schema: Schema
  value?: string
}

function input({ name, to, id, required, schema, value = '' }: Input): Html {
  const values = schema.type === 'boolean' ? ['true', 'false'] : schema.enum
  const attributes = html`id="${id}" name="${name}" data-to="${to}"${required && html` required`}`
  return html`<p><label for="${id}">${name}${required && ' (required)'}</label>
${
  values
    ? html`<select ${attributes}><option value=""></option>${values.map(
        (one) => html`<option>${String(one)}</option>`,
      )}</select>`
    : html`<input ${attributes} value="${value}" type="${
        SECRETS.includes(name) ? 'password' : 'text'
      }" autocomplete="off" spellcheck="false">`
}</p>
`
}

/** What a reader fills in to make the request from the page; `reference.js` sends it. */
export function tryIt(
  path: string,
  method: string,
  operation: Operation,
  parameters: readonly Parameter[],
  spec: Spec,
): Part {
  const { operationId, requestBody } = operation
  const [[type = '', media] = []] = Object.entries(requestBody?.content ?? {})
  const isForm = type === 'application/x-www-form-urlencoded'
  const id = (name: string) => `${operationId}-${name}`
  return html`<details class="try">
<summary>Try it<span class="away">: ${operation.summary} (${operationId})</span></summary>
<form method="post" data-method="${method.toUpperCase()}" data-path="${path}" data-scheme="${schemeOf(operation) ?? ''}" data-type="${type}">
${parameters
  .filter(({ name }) => !NOT_HERE.includes(name))
  .map(({ name, in: to, required = false, schema, example }) =>
    input({
      name,
      to,
      id: id(name),
      required,
      schema,
      value: required && example !== undefined ? String(example) : '',
    }),
  )}${
  media &&
  isForm &&
  formOf(media).map(([name, schema]) =>
    input({
      name,
      to: 'form',
      id: id(name),
      required: media.schema.required?.includes(name) ?? false,
      schema,
      value: schema.const === undefined ? '' : String(schema.const),
    }),
  )
}${
  media &&
  !isForm &&
  html`<p><label for="${id('body')}">Body</label>
<textarea id="${id('body')}" name="body" rows="8" spellcheck="false">
${bodyOf(media, spec)}</textarea></p>
`
}<p><button type="submit">Send <span class="away">${operationId}</span></button></p>
<div class="answer" role="status"></div>
</form>
</details>
`
}
