import { type Html, html, type Part } from '../html.ts'
import { codeBlock, inline, rendered } from '../markdown.ts'
import {
  type Answer,
  type Example,
  nameOf,
  type Operation,
  type Parameter,
  type Spec,
} from '../spec.ts'
import { curlOf, schemeOf } from './sample.ts'
import { fieldsOf, rulesOf, typeOf } from './schema.ts'
import { tryIt } from './try.ts'

const WHERE = { path: 'in the path', query: 'in the query', header: 'a header' }

const parameter = ({ name, in: at, required, description, schema, example }: Parameter) =>
  html`<div><dt><code>${name}</code> <span class="type">${WHERE[at]}: ${typeOf(schema)}</span>${
    required && html` <span class="required">required</span>`
  }</dt><dd>${inline(description)}${
    example !== undefined &&
    html` <span class="example">Example: <code>${String(example)}</code></span>`
  }</dd></div>
`

/** What a request brings: of records, the fields of one. */
function bodyPart({ requestBody }: Operation, { components }: Spec): Part {
  const [[type = '', media] = []] = Object.entries(requestBody?.content ?? {})
  if (!media) return null
  const { $ref } = media.schema
  const { description, anyOf: forms = [] } = $ref ? components.schemas[nameOf($ref)]! : media.schema
  const record = forms[0]?.$ref ? components.schemas[nameOf(forms[0].$ref)]! : media.schema
  return html`<h4>Body</h4>
<p class="type">${type}: ${typeOf(media.schema)}${!requestBody?.required && ', may be left out'}</p>
${description && html`<p>${inline(description)}</p>`}
${record !== media.schema && html`<p>One record: ${inline(record.description ?? '')}</p>`}
${fieldsOf(record.items ?? record)}
${rulesOf(record.items ?? record)}`
}

/** An answer that is no failure. */
function good(status: string, { description, content = {} }: Answer): Html {
  const [[type = '', media] = []] = Object.entries(content)
  const fields = media && fieldsOf(media.schema)
  return html`<div><dt><code>${status}</code>${
    media && html` <span class="type">${typeOf(media.schema)}, ${type}</span>`
  }</dt><dd>${inline(description)}${fields}${Object.values(media?.examples ?? {}).map(seen)}</dd></div>
`
}

/** What a test was answered, and what it had sent where that is said. */
const seen = ({ summary = 'Example', description, value }: Example): Html =>
  html`<details class="more"><summary>${inline(summary)}</summary>
${description && rendered(description)}${codeBlock(JSON.stringify(value, null, 2), 'json')}</details>`

/** A failure, by the pages that explain its codes. */
function bad(status: string, { description, content = {} }: Answer): Html {
  const examples = Object.entries(Object.values(content)[0]?.examples ?? {})
  // An example is called by its code, unless a test was answered it.
  const codes = examples.map(([name, { value }]) => (value as { code?: string })?.code ?? name)
  const answered = examples.map(([, example]) => example).filter((one) => one.description)
  return html`<li>${status} ${
    codes.length > 0
      ? [...new Set(codes)].map((code) => html`<a href="/problems/${code}">${code}</a> `)
      : inline(description)
  }${answered.map(seen)}</li>
`
}

function answersPart({ responses }: Operation, { components }: Spec): Html {
  const all = Object.entries(responses).map(
    ([status, answer]) =>
      [status, answer.$ref ? components.responses[nameOf(answer.$ref)]! : answer] as const,
  )
  const isBad = ([status]: readonly [string, Answer]) => Number(status) >= 400
  const headers = Object.values(responses)
    .filter(({ $ref }) => !$ref)
    .flatMap((answer) => Object.keys(answer.headers ?? {}))
  return html`<h4>Answers</h4>
<dl class="fields">
${all.filter((one) => !isBad(one)).map((one) => good(...one))}</dl>
${
  headers.length > 0 &&
  html`<p class="headers">With ${[...new Set(headers)].map(
    (name) => html`<a href="#header-${name}"><code>${name}</code></a> `,
  )}</p>`
}
<h4>Failures</h4>
<ul class="failures">
${all.filter(isBad).map((one) => bad(...one))}</ul>
`
}

const WHO: Record<string, string> = {
  oauth: 'an access token',
  brandToken: 'a Brand Token, in x-api-key',
  adminKey: 'the admin key, or Cloudflare Access',
}

/** An operation: what it does, takes and answers; beside it how it is asked, and a form to try it. */
export function operationSection(
  path: string,
  method: string,
  operation: Operation,
  spec: Spec,
): Html {
  const { operationId, summary, description } = operation
  const parameters = (operation.parameters ?? []).map((one) =>
    one.$ref ? spec.components.parameters[nameOf(one.$ref)]! : one,
  )
  const scheme = schemeOf(operation)
  const scope = operation.security[0]?.[scheme ?? '']?.[0]
  return html`<section class="operation" id="${operationId}">
<h3><a href="#${operationId}">${summary}</a></h3>
<p class="address"><span class="method ${method}">${method.toUpperCase()}</span> <code>${path}</code></p>
<div class="told">
<p>${inline(description)}</p>
<p class="who">${scheme ? `With ${WHO[scheme]}${scope ? ` of scope ${scope}` : ''}.` : 'Open to anyone.'}</p>
${
  parameters.length > 0 &&
  html`<h4>Parameters</h4>
<dl class="fields">
${parameters.map(parameter)}</dl>
`
}${bodyPart(operation, spec)}${answersPart(operation, spec)}</div>
<div class="shown">
${codeBlock(curlOf(path, method, operation, parameters, spec), 'sh')}${tryIt(
  path,
  method,
  operation,
  parameters,
  spec,
)}</div>
</section>
`
}
