import type { GuidePage } from './guide.ts'
import { html } from './html.ts'
import { schemaFiles } from './llms.ts'
import { inline } from './markdown.ts'
import type { Spec } from './spec.ts'

/** Where to go from the first page, and what is there. */
const DOORS = [
  { at: '/docs/start', title: 'Guide', says: 'From credentials to the first reconciled day.' },
  { at: '/docs', title: 'Reference', says: 'Each operation and each field, to be tried here.' },
  { at: '/docs/errors', title: 'Errors', says: 'Each code, with its cause and its cure.' },
  { at: '/openapi.json', title: 'OpenAPI 3.1', says: 'The same for your tools.' },
  { at: '#schemas', title: 'JSON Schemas', says: 'To judge records before you send them.' },
  { at: '/llms.txt', title: 'llms.txt', says: 'All pages as Markdown, for language models.' },
]

/** The first page: what this is, and one click to everything else. */
export function home({ info }: Spec, guide: readonly GuidePage[]) {
  const [what = '', promise = ''] = info.description.split('\n\n')
  const sentence = what.replace(/\.\s[\s\S]*/, '.')
  return html`<h1>${info.title}</h1>
<p class="lead">${inline(sentence)}</p>
<p>${inline(promise)}</p>
<ul class="doors">
${DOORS.map(
  ({ at, title, says }) => html`<li><a href="${at}"><strong>${title}</strong> ${says}</a></li>
`,
)}</ul>
<h2 id="guide">The guide</h2>
<ol class="contents">
${guide.map(
  ({ at, title, description }) => html`<li><a href="${at}">${title}</a> ${description}</li>
`,
)}</ol>
<h2 id="schemas">Schemas</h2>
<ul class="contents">
${schemaFiles().map(
  ({ at, title, description }) =>
    html`<li><a href="${at}">${title}</a> ${inline(description)}</li>
`,
)}</ul>
`
}
