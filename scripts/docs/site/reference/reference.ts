import { type Html, html } from '../html.ts'
import { inline } from '../markdown.ts'
import type { Spec } from '../spec.ts'
import { operationSection } from './operation.ts'
import { schemaSection } from './schema.ts'

const operations = ({ paths }: Spec) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )

/** The operations under their tags, in the order of the tags. */
const tagged = (spec: Spec) =>
  spec.tags.map((tag) => ({
    ...tag,
    of: operations(spec).filter(({ operation }) => operation.tags[0] === tag.name),
  }))

/** Titles of tags that are no words. */
const TITLES: Record<string, string> = { 'prop-trading': 'Prop trading', igaming: 'iGaming' }

const titleOf = (tag: string) => TITLES[tag] ?? tag.charAt(0).toUpperCase() + tag.slice(1)

/** The operations as a list. */
export const referenceNav = (spec: Spec): Html => html`<h2>Reference</h2>
<ul>
<li><a href="/docs/start">Guide</a></li>
<li><a href="#credentials">Credentials</a></li>
${tagged(spec).map(
  ({ name, of }) => html`<li><a href="#tag-${name}">${titleOf(name)}</a>
<ul>${of.map(
    ({ method, operation }) =>
      html`<li><a href="#${operation.operationId}"><span class="method ${method}">${method.toUpperCase()}</span> ${operation.summary}</a></li>`,
  )}</ul></li>
`,
)}<li><a href="#headers">Headers of answers</a></li>
<li><a href="#schemas">Schemas</a></li>
</ul>
`

const CREDENTIALS = html`<section id="credentials">
<h2><a href="#credentials">Credentials</a></h2>
<p>What you try on this page is sent with these, to this service and nowhere else. They are kept
until you leave the page.</p>
<form method="post" class="client" data-method="POST" data-path="/oauth/token" data-scheme="" data-type="application/x-www-form-urlencoded">
<input type="hidden" name="grant_type" data-to="form" value="client_credentials">
<p><label for="client_id">client_id</label>
<input id="client_id" name="client_id" data-to="form" required autocomplete="off" spellcheck="false"></p>
<p><label for="client_secret">client_secret</label>
<input id="client_secret" name="client_secret" data-to="form" type="password" required autocomplete="off"></p>
<p><button type="submit">Get a token</button></p>
<div class="answer" role="status"></div>
</form>
<div class="secrets">
<p><label for="oauth">Access token, of a firm</label>
<input id="oauth" type="password" autocomplete="off"></p>
<p><label for="brandToken">Brand Token, of a brand</label>
<input id="brandToken" type="password" autocomplete="off"></p>
<p><label for="adminKey">Admin key, of the integrations team</label>
<input id="adminKey" type="password" autocomplete="off"></p>
</div>
</section>
`

/** The service, operation by operation. */
export function reference(spec: Spec): Html {
  const { info, components } = spec
  const schemas = Object.entries(components.schemas)
  return html`<h1>Reference</h1>
${info.description.split('\n\n').map((paragraph) => html`<p>${inline(paragraph)}</p>\n`)}
<p>Version ${info.version}. The same for tools: <a href="/openapi.json">openapi.json</a>.</p>
${CREDENTIALS}${tagged(spec).map(
  ({ name, description, of }) => html`<section id="tag-${name}">
<h2><a href="#tag-${name}">${titleOf(name)}</a></h2>
<p>${inline(description)}</p>
${of.map(({ path, method, operation }) => operationSection(path, method, operation, spec))}</section>
`,
)}<section id="headers">
<h2><a href="#headers">Headers of answers</a></h2>
<dl class="fields">
${Object.entries(components.headers).map(
  ([name, { description }]) =>
    html`<div id="header-${name}"><dt><code>${name}</code></dt><dd>${inline(description)}</dd></div>
`,
)}</dl>
</section>
<section id="schemas">
<h2><a href="#schemas">Schemas</a></h2>
<p>What the names above mean. A record has its schema in a file of its own, too: see the
<a href="/#schemas">list</a>.</p>
${schemas.map(([name, schema]) => schemaSection(name, schema))}</section>
`
}
