import { documentAddress } from '../../openapi/audiences.ts'
import { type Html, html } from '../html.ts'
import { linkTo } from '../layout.ts'
import { anchorOf, inline } from '../markdown.ts'
import type { Spec } from '../spec.ts'
import { operationSection } from './operation.ts'
import {
  AUDIENCES,
  addressOf,
  descriptionOf,
  endpointsOf,
  headersOf,
  PAGES,
  type ReferencePage,
  schemasOf,
} from './pages.ts'
import { methodOf } from './panels.ts'
import { schemaSection } from './schema.ts'

/** Renders the list of pages. Below the current page it lists the operations. */
export const referenceNav = (spec: Spec, here?: ReferencePage): Html => html`<ul>
<li>${linkTo('/docs/reference', 'Overview', here ? addressOf(here) : '/docs/reference')}</li>
</ul>
${AUDIENCES.map(
  ({ title, pages }) => html`<h2>${title}</h2>
<ul>${pages.map(
    (page) =>
      html`<li>${linkTo(addressOf(page), page.title, here ? addressOf(here) : '')}${
        page === here && operationNav(page, spec)
      }</li>`,
  )}</ul>
`,
)}`

const operationNav = (page: ReferencePage, spec: Spec): Html => html`
<ul class="operations">
${endpointsOf(page, spec).map(
  ({ method, operation }) =>
    html`<li><a href="#${operation.operationId}">${methodOf(method)} ${operation.summary}</a></li>
`,
)}<li><a href="#headers">Response headers</a></li>
<li><a href="#schemas">Schemas</a></li>
</ul>
`

/** Renders the operations of a page, and the headers and schemas that they use. */
export const operationsPage = (page: ReferencePage, spec: Spec): Html => html`<h1>${page.title}</h1>
<p class="lead">${descriptionOf(page, spec)}</p>
<h2 id="operations">Operations</h2>
${endpointsOf(page, spec).map((endpoint) => operationSection(endpoint, spec))}
<section id="headers">
<h2><a href="#headers">Response headers</a></h2>
<dl class="fields">
${headersOf(page, spec).map(
  ([name, { description }]) =>
    html`<div id="header-${name}"><dt><code>${name}</code></dt><dd>${inline(description)}</dd></div>
`,
)}</dl>
</section>
<section id="schemas">
<h2><a href="#schemas">Schemas</a></h2>
<p>The types that this page names. The JSON Schema of each record is also a <a
href="/#schemas">file of its own</a>.</p>
${schemasOf(page, spec).map(([name, schema]) => schemaSection(name, schema))}</section>
`

/** Lists the operations of a page with links to them. */
const operationIndex = (page: ReferencePage, spec: Spec): Html => html`<h3><a
href="${addressOf(page)}">${page.title}</a></h3>
<p>${descriptionOf(page, spec)}</p>
<ul class="index">
${endpointsOf(page, spec).map(
  ({ path, method, operation }) =>
    html`<li><a href="${addressOf(page)}#${operation.operationId}">${operation.summary}</a> <span class="address">${methodOf(method)} <code>${path}</code></span></li>
`,
)}</ul>
`

/** Lists each schema with the first page that shows it. */
function schemaIndex(spec: Spec): Html {
  const all = PAGES.flatMap((page) =>
    schemasOf(page, spec).map(([name]) => [name, `${addressOf(page)}#schema-${name}`] as const),
  )
  const sorted = [...new Map(all.reverse())].sort(([a], [b]) => a.localeCompare(b))
  return html`<ul class="names">
${sorted.map(([name, at]) => html`<li><a href="${at}">${name}</a></li>\n`)}</ul>
`
}

/** Renders the page that leads to all operations and schemas. */
export const overviewPage = (spec: Spec): Html => html`<h1>API reference</h1>
<p class="lead">${inline(spec.info.description.split('\n\n')[0] ?? '')}</p>
<p>Version ${spec.info.version}. For tools: <a href="/openapi.json">OpenAPI 3.1</a>, <a
href="/#schemas">JSON Schemas</a> and <a href="/llms.txt">llms.txt</a>.</p>
${AUDIENCES.map(
  ({ title, document, description, pages }) => html`<h2 id="${anchorOf(title)}">${title}</h2>
<p>${description} For tools: <a href="${documentAddress(document)}">OpenAPI</a></p>
${pages.map((page) => operationIndex(page, spec))}`,
)}<h2 id="schemas">Schemas</h2>
${schemaIndex(spec)}`
