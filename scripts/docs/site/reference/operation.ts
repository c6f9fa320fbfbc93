import { addressOfCode } from '../../explained.ts'
import { type Html, html, type Part } from '../html.ts'
import { inline } from '../markdown.ts'
import { type Answer, nameOf, type Operation, type Parameter, type Spec } from '../spec.ts'
import type { Endpoint } from './pages.ts'
import { addressLine, answerPanel, requestPanel } from './panels.ts'
import { answersOf, parametersOf, schemeOf } from './sample.ts'
import { fieldsOf, rulesOf, typeOf } from './schema.ts'

const PLACES = { path: 'path', query: 'query', header: 'header' }

const parameterItem = ({ name, in: place, required, description, schema, example }: Parameter) =>
  html`<div><dt><code>${name}</code> <span class="type">${PLACES[place]}, ${typeOf(schema)}</span>${
    required && html` <span class="required">required</span>`
  }</dt><dd>${inline(description)}${
    example !== undefined &&
    html` <span class="example">Example: <code>${String(example)}</code></span>`
  }</dd></div>
`

/** Renders the request body. For a bulk it lists the fields of one record. */
function bodyPart({ requestBody }: Operation, { components }: Spec): Part {
  const [[type = '', media] = []] = Object.entries(requestBody?.content ?? {})
  if (!media) return null
  const component = (ref?: string) => (ref ? components.schemas[nameOf(ref)] : undefined)
  const body = component(media.schema.$ref) ?? media.schema
  const record = component(body.anyOf?.[0]?.$ref) ?? media.schema
  return html`<h4>Body</h4>
<p class="type">${type}, ${typeOf(media.schema)}${!requestBody?.required && ', optional'}</p>
${body.description && html`<p>${inline(body.description)}</p>`}
${record !== media.schema && html`<p>Each record: ${inline(record.description ?? '')}</p>`}
${fieldsOf(record.items ?? record)}
${rulesOf(record.items ?? record)}`
}

/** Renders an answer with a status below 400. */
function successItem(status: string, { description, content = {} }: Answer): Html {
  const [[type = '', media] = []] = Object.entries(content)
  return html`<div><dt><code>${status}</code>${
    media && html` <span class="type">${typeOf(media.schema)}, ${type}</span>`
  }</dt><dd>${inline(description)}${media && fieldsOf(media.schema)}</dd></div>
`
}

/** Renders a failure as links to its codes. */
function failureItem(status: string, { description, content = {} }: Answer): Html {
  const examples = Object.entries(Object.values(content)[0]?.examples ?? {})
  // A recorded example has a name of its own; its body holds the code.
  const codes = examples.map(([name, { value }]) => codeIn(value) ?? name)
  return html`<li><span class="status bad">${status}</span> ${
    codes.length > 0
      ? [...new Set(codes)].map(
          (code) => html`<a href="${addressOfCode('problem', code)}">${code}</a> `,
        )
      : inline(description)
  }</li>
`
}

const codeIn = (value: unknown): string | undefined =>
  typeof value === 'object' && value !== null && 'code' in value ? String(value.code) : undefined

function answersPart(operation: Operation, spec: Spec): Html {
  const answers = answersOf(operation, spec)
  const headers = Object.values(operation.responses)
    .filter(({ $ref }) => !$ref)
    .flatMap((answer) => Object.keys(answer.headers ?? {}))
  return html`<h4>Responses</h4>
<dl class="fields">
${answers.filter(([status]) => Number(status) < 400).map((one) => successItem(...one))}</dl>
${
  headers.length > 0 &&
  html`<p class="headers">Headers: ${[...new Set(headers)].map(
    (name) => html`<a href="#header-${name}"><code>${name}</code></a> `,
  )}</p>`
}
<h4>Errors</h4>
<ul class="failures">
${answers.filter(([status]) => Number(status) >= 400).map((one) => failureItem(...one))}</ul>
`
}

const CREDENTIALS: Record<string, string> = {
  oauth: 'an access token',
  brandToken: 'a Brand Token in `x-api-key`',
  affiliateKey: 'the key of an affiliate',
  adminKey: 'the admin key or a Cloudflare Access JWT',
}

function authentication(operation: Operation): Html {
  const scheme = schemeOf(operation)
  if (!scheme) return html`<p class="who">No authentication.</p>`
  const scope = operation.security[0]?.[scheme]?.[0]
  const needed = `Requires ${CREDENTIALS[scheme]}${scope ? ` with the \`${scope}\` scope` : ''}.`
  return html`<p class="who">${inline(needed)}</p>`
}

/** Renders an operation, folded below its title: its description beside a sample request and answer. */
export function operationSection(endpoint: Endpoint, spec: Spec): Html {
  const { operation } = endpoint
  const { operationId, summary, description } = operation
  const parameters = parametersOf(operation, spec)
  return html`<details class="folded"><summary><h3>${summary}</h3> <span class="address">${addressLine(endpoint)}</span></summary>
<section class="operation" id="${operationId}">
<div class="description">
<p>${inline(description)}</p>
${authentication(operation)}
${
  parameters.length > 0 &&
  html`<h4>Parameters</h4>
<dl class="fields">
${parameters.map(parameterItem)}</dl>
`
}${bodyPart(operation, spec)}${answersPart(operation, spec)}</div>
<div class="samples">
${requestPanel(endpoint, spec)}${answerPanel(endpoint, spec)}</div>
</section></details>
`
}
