import type { GuidePage } from './guide.ts'
import { html } from './html.ts'
import { schemaFiles } from './llms.ts'
import { inline } from './markdown.ts'
import { AUDIENCES, addressOf } from './reference/pages.ts'
import type { Spec } from './spec.ts'

/** The main destinations of the home page. */
const DESTINATIONS = [
  {
    at: '/docs/start',
    title: 'Guide',
    description: 'From credentials to the first reconciled day, step by step.',
  },
  {
    at: '/docs/reference',
    title: 'API reference',
    description: 'Every operation with samples in four languages and a form to try it.',
  },
  { at: '/docs/errors', title: 'Errors', description: 'Every error code, its cause and its fix.' },
  { at: '/openapi.json', title: 'OpenAPI 3.1', description: 'The API description for your tools.' },
  { at: '#schemas', title: 'JSON Schemas', description: 'Validate records before you send them.' },
  {
    at: '/llms.txt',
    title: 'llms.txt',
    description: 'All pages as Markdown, for language models.',
  },
]

/** Renders the home page: what the service is, and links to everything else. */
export function home({ info }: Spec, guide: readonly GuidePage[]) {
  const [purpose = '', promise = ''] = info.description.split('\n\n')
  const firstSentence = purpose.replace(/\.\s[\s\S]*/, '.')
  return html`<h1>${info.title}</h1>
<p class="lead">${inline(firstSentence)}</p>
<p>${inline(promise)}</p>
<ul class="doors">
${DESTINATIONS.map(
  ({ at, title, description }) =>
    html`<li><a href="${at}"><strong>${title}</strong> ${description}</a></li>
`,
)}</ul>
<h2 id="reference">Reference by audience</h2>
<ul class="contents">
${AUDIENCES.map(
  (
    audience,
  ) => html`<li><a href="${addressOf(audience)}">${audience.title}</a> ${audience.description}</li>
`,
)}</ul>
<h2 id="guide">Guide</h2>
<ol class="contents">
${guide.map(
  ({ at, title, description }) => html`<li><a href="${at}">${title}</a> ${description}</li>
`,
)}</ol>
<h2 id="schemas">JSON Schemas</h2>
<ul class="contents">
${schemaFiles().map(
  ({ at, title, description }) => html`<li><a href="${at}">${title}</a> ${inline(description)}</li>
`,
)}</ul>
`
}
