import { type Html, html } from '../html.ts'
import { linkTo } from '../layout.ts'
import { inline } from '../markdown.ts'
import type { Spec } from '../spec.ts'
import { credentialsSection } from './credentials.ts'
import { operationSection } from './operation.ts'
import {
  AUDIENCES,
  type Audience,
  addressOf,
  type Endpoint,
  endpointsOf,
  groupsOf,
  headersOf,
  PAGES,
  type ReferencePage,
  schemasOf,
} from './pages.ts'
import { schemaSection } from './schema.ts'

const pageItem = (page: ReferencePage, here?: ReferencePage): Html =>
  html`<li>${linkTo(addressOf(page), page.title, here ? addressOf(here) : '')}</li>
`

/** Renders a page's entry in the list. That of an audience contains its topics while one is open. */
function audienceItem(audience: Audience, here?: ReferencePage): Html {
  const { topics = [] } = audience
  const isOpen = here && [audience, ...topics].includes(here)
  if (!isOpen || topics.length === 0) return pageItem(audience, here)
  return html`<li>${linkTo(addressOf(audience), audience.title, addressOf(here))}
<ul>${topics.map((topic) => pageItem(topic, here))}</ul></li>
`
}

/** Renders the list of pages. Below the current page it lists the operations. */
export const referenceNav = (spec: Spec, here?: ReferencePage): Html => html`<h2>Reference</h2>
<ul>
<li>${linkTo('/docs/reference', 'Overview', here ? addressOf(here) : '/docs/reference')}</li>
${AUDIENCES.map((audience) => audienceItem(audience, here))}</ul>
${here && PAGES.includes(here) && operationNav(here, spec)}`

const operationNav = (page: ReferencePage, spec: Spec): Html => html`<h2>${page.title}</h2>
<ul class="operations">
${credentialsSection(page, spec) && html`<li><a href="#credentials">Credentials</a></li>\n`}${groupsOf(
  page,
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

function headersSection(page: ReferencePage, spec: Spec): Html {
  return html`<section id="headers">
<h2><a href="#headers">Response headers</a></h2>
<dl class="fields">
${headersOf(page, spec).map(
  ([name, { description }]) =>
    html`<div id="header-${name}"><dt><code>${name}</code></dt><dd>${inline(description)}</dd></div>
`,
)}</dl>
</section>
`
}

function schemasSection(page: ReferencePage, spec: Spec): Html {
  return html`<section id="schemas">
<h2><a href="#schemas">Schemas</a></h2>
<p>The types that this page names. The JSON Schema of each record is also a <a
href="/#schemas">file of its own</a>.</p>
${schemasOf(page, spec).map(([name, schema]) => schemaSection(name, schema))}</section>
`
}

/** Renders the operations of a page. */
export const operationsPage = (page: ReferencePage, spec: Spec): Html => html`<h1>${page.title}</h1>
<p class="lead">${page.description}</p>
${credentialsSection(page, spec)}${groupsOf(page, spec).map(
  ({ title, anchor, endpoints }) => html`<section id="${anchor}">
<h2><a href="#${anchor}">${title}</a></h2>
${endpoints.map((endpoint) => operationSection(endpoint, spec))}</section>
`,
)}${headersSection(page, spec)}${schemasSection(page, spec)}`

const doors = (pages: readonly ReferencePage[]): Html => html`<ul class="doors">
${pages.map(
  (
    one,
  ) => html`<li><a href="${addressOf(one)}"><strong>${one.title}</strong> ${one.description}</a></li>
`,
)}</ul>
`

const endpointItem = (page: ReferencePage, { path, method, operation }: Endpoint): Html => {
  const { operationId, summary } = operation
  return html`<li id="${operationId}"><a href="${addressOf(page)}#${operationId}">${summary}</a> <span class="address"><span class="method ${method}">${method.toUpperCase()}</span> <code>${path}</code></span></li>
`
}

/** Lists the operations of each page. An operation on several pages is listed once, for the first. */
function operationIndex(pages: readonly ReferencePage[], spec: Spec): Html[] {
  const seen = new Set<string>()
  const firstUse = (id: string) => !seen.has(id) && seen.add(id)
  return pages.map((page) => {
    const endpoints = endpointsOf(page, spec).filter(({ operation }) =>
      firstUse(operation.operationId),
    )
    return html`<h3>${page.title}</h3>
<ul class="index">
${endpoints.map((endpoint) => endpointItem(page, endpoint))}</ul>
`
  })
}

/** Lists each schema with the first of these pages that shows it. */
function schemaIndex(all: readonly ReferencePage[], spec: Spec): Html {
  const pages = new Map<string, ReferencePage>()
  for (const page of all) {
    for (const [name] of schemasOf(page, spec)) {
      if (!pages.has(name)) pages.set(name, page)
    }
  }
  const sorted = [...pages].sort(([a], [b]) => a.localeCompare(b))
  return html`<ul class="names">
${sorted.map(
  ([name, page]) =>
    html`<li id="schema-${name}"><a href="${addressOf(page)}#schema-${name}">${name}</a></li>
`,
)}</ul>
`
}

/**
 * Lists the operations and the schemas of pages. Each has an anchor, so that a link such as
 * `/docs#getToken`, from before a page was split, still leads to the operation.
 */
const indexOf = (
  pages: readonly ReferencePage[],
  spec: Spec,
): Html => html`<h2 id="operations">Operations</h2>
${operationIndex(pages, spec)}<h2 id="schemas">Schemas</h2>
${schemaIndex(pages, spec)}`

/** Renders the page of an audience that leads to those of its topics. */
export const topicsPage = (
  { title, description }: Audience,
  topics: readonly ReferencePage[],
  spec: Spec,
): Html => html`<h1>${title}</h1>
<p class="lead">${description}</p>
${doors(topics)}${indexOf(topics, spec)}`

/** Renders the page that leads to all others. */
export const overviewPage = (spec: Spec): Html => html`<h1>API reference</h1>
<p class="lead">${inline(spec.info.description.split('\n\n')[0] ?? '')}</p>
<p>Version ${spec.info.version}. For tools: <a href="/openapi.json">OpenAPI 3.1</a>, <a
href="/#schemas">JSON Schemas</a> and <a href="/llms.txt">llms.txt</a>.</p>
${doors(AUDIENCES)}${indexOf(PAGES, spec)}`
