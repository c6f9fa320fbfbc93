import { type Html, html } from '../html.ts'
import { linkTo } from '../layout.ts'
import { inline } from '../markdown.ts'
import type { Spec } from '../spec.ts'
import {
  AUDIENCES,
  type Audience,
  addressOf,
  endpointsOf,
  groupsOf,
  headersOf,
  schemasOf,
} from './audiences.ts'
import { credentialsSection } from './credentials.ts'
import { operationSection } from './operation.ts'
import { schemaSection } from './schema.ts'

/** Renders the list of pages. Below the current page it lists the operations. */
export const referenceNav = (spec: Spec, here?: Audience): Html => html`<h2>Reference</h2>
<ul>
<li>${linkTo('/docs/reference', 'Overview', here ? addressOf(here) : '/docs/reference')}</li>
${AUDIENCES.map(
  (
    audience,
  ) => html`<li>${linkTo(addressOf(audience), audience.title, here ? addressOf(here) : '')}</li>
`,
)}</ul>
${here && operationNav(here, spec)}`

const operationNav = (audience: Audience, spec: Spec): Html => html`<h2>${audience.title}</h2>
<ul class="operations">
${credentialsSection(audience, spec) && html`<li><a href="#credentials">Credentials</a></li>\n`}${groupsOf(
  audience,
  spec,
).map(
  ({ title, anchor, endpoints }) => html`<li><a href="#${anchor}">${title}</a>
<ul>${endpoints.map(
    ({ method, operation }) =>
      html`<li><a href="#${operation.operationId}"><span class="method ${method}">${method.toUpperCase()}</span> ${operation.summary}</a></li>`,
  )}</ul></li>
`,
)}<li><a href="#headers">Response headers</a></li>
<li><a href="#schemas">Schemas</a></li>
</ul>
`

function headersSection(audience: Audience, spec: Spec): Html {
  return html`<section id="headers">
<h2><a href="#headers">Response headers</a></h2>
<dl class="fields">
${headersOf(audience, spec).map(
  ([name, { description }]) =>
    html`<div id="header-${name}"><dt><code>${name}</code></dt><dd>${inline(description)}</dd></div>
`,
)}</dl>
</section>
`
}

function schemasSection(audience: Audience, spec: Spec): Html {
  return html`<section id="schemas">
<h2><a href="#schemas">Schemas</a></h2>
<p>The types that this page names. The JSON Schema of each record is also a <a
href="/#schemas">file of its own</a>.</p>
${schemasOf(audience, spec).map(([name, schema]) => schemaSection(name, schema))}</section>
`
}

/** Renders the operations of one audience. */
export const audiencePage = (
  audience: Audience,
  spec: Spec,
): Html => html`<h1>${audience.title}</h1>
<p class="lead">${audience.description}</p>
${credentialsSection(audience, spec)}${groupsOf(audience, spec).map(
  ({ title, anchor, endpoints }) => html`<section id="${anchor}">
<h2><a href="#${anchor}">${title}</a></h2>
${endpoints.map((endpoint) => operationSection(endpoint, spec))}</section>
`,
)}${headersSection(audience, spec)}${schemasSection(audience, spec)}`

/** Finds the first page that shows each schema. */
function schemaPages(spec: Spec): [string, Audience][] {
  const pages = new Map<string, Audience>()
  for (const audience of AUDIENCES) {
    for (const [name] of schemasOf(audience, spec)) {
      if (!pages.has(name)) pages.set(name, audience)
    }
  }
  return [...pages].sort(([a], [b]) => a.localeCompare(b))
}

/**
 * Renders the page that leads to the others. It has an anchor for each operation and each schema, so
 * that a link such as `/docs#getToken` still leads to the operation.
 */
export function overviewPage(spec: Spec): Html {
  const seen = new Set<string>()
  const firstUse = (id: string) => !seen.has(id) && seen.add(id)
  return html`<h1>API reference</h1>
<p class="lead">${inline(spec.info.description.split('\n\n')[0] ?? '')}</p>
<p>Version ${spec.info.version}. For tools: <a href="/openapi.json">OpenAPI 3.1</a>, <a
href="/#schemas">JSON Schemas</a> and <a href="/llms.txt">llms.txt</a>.</p>
<ul class="doors">
${AUDIENCES.map(
  (
    one,
  ) => html`<li><a href="${addressOf(one)}"><strong>${one.title}</strong> ${one.description}</a></li>
`,
)}</ul>
<h2 id="operations">Operations</h2>
${AUDIENCES.map((audience) => {
  const endpoints = endpointsOf(audience, spec).filter(({ operation }) =>
    firstUse(operation.operationId),
  )
  return html`<h3>${audience.title}</h3>
<ul class="index">
${endpoints.map(
  ({ path, method, operation: { operationId, summary } }) =>
    html`<li id="${operationId}"><a href="${addressOf(audience)}#${operationId}">${summary}</a> <span class="address"><span class="method ${method}">${method.toUpperCase()}</span> <code>${path}</code></span></li>
`,
)}</ul>
`
})}<h2 id="schemas">Schemas</h2>
<ul class="names">
${schemaPages(spec).map(
  ([name, audience]) =>
    html`<li id="schema-${name}"><a href="${addressOf(audience)}#schema-${name}">${name}</a></li>
`,
)}</ul>
`
}
