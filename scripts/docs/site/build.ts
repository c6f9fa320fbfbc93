import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { type GuidePage, guide } from './guide.ts'
import { home } from './home.ts'
import { html } from './html.ts'
import { layout, linkTo } from './layout.ts'
import { llms } from './llms.ts'
import { problemPage } from './problems.ts'
import { reference, referenceNav } from './reference/reference.ts'
import type { Spec } from './spec.ts'
import { CODES } from './tables.ts'

/** The pages of the guide as a list; under the one that is read, its headings. */
const guideNav = (pages: readonly GuidePage[], here: string) => html`<h2>Guide</h2>
<ul>
${pages.map(
  ({ at, title, headings }) => html`<li>${linkTo(at, title, here)}${
    at === here &&
    headings.length > 0 &&
    html`
<ul>${headings.map((heading) => html`<li><a href="#${heading.anchor}">${heading.title}</a></li>`)}</ul>`
  }</li>
`,
)}<li>${linkTo('/docs', 'Reference', here)}</li>
</ul>
`

/** Where to read on, and the same page for programs. */
function guideMain({ at, title, body }: GuidePage, before?: GuidePage, after?: GuidePage) {
  return html`<h1>${title}</h1>
${body}
<p class="twin"><a href="${at}.md">Markdown</a></p>
<nav class="turn" aria-label="Next pages">
${before && html`<a rel="prev" href="${before.at}"><small>Before</small> ${before.title}</a>`}
${after && html`<a rel="next" href="${after.at}"><small>Next</small> ${after.title}</a>`}
</nav>
`
}

/** For whom looks for what is not there. */
const missing = html`<h1>Not here</h1>
<p class="lead">There is no such page.</p>
<p>What a <code>code</code> means, of a problem or of one record, is told under <a
href="/docs/errors">errors</a>; all else begins at <a href="/">the first page</a>.</p>
`

/** Puts together what the Worker serves as documents: `dist/site`. */
export function buildSite(out = 'dist/site') {
  const files = new Map<string, Buffer>()
  const write = (path: string, text: string) => files.set(join(out, path), Buffer.from(text))
  const spec: Spec = JSON.parse(readFileSync('openapi.json', 'utf8'))
  const pages = guide()
  const { title: product, summary } = spec.info
  const titled = (title: string) => `${title} · ${product}`

  write(
    'index.html',
    layout({
      at: '/',
      title: `${product}: documentation`,
      description: summary,
      main: home(spec, pages),
    }).html,
  )
  write(
    'reference.html',
    layout({
      at: '/docs',
      title: titled('Reference'),
      description: 'Each operation of the service, its parameters, its bodies and its answers.',
      nav: referenceNav(spec),
      main: reference(spec),
      script: 'reference.js',
    }).html,
  )
  for (const [i, page] of pages.entries()) {
    const { at, title, description } = page
    const nav = guideNav(pages, at)
    const main = guideMain(page, pages[i - 1], pages[i + 1])
    write(`${at}.html`, layout({ at, title: titled(title), description, nav, main }).html)
    write(`${at}.md`, page.markdown)
  }
  for (const problem of CODES) {
    const { code, title, description, markdown, main } = problemPage(problem, pages, spec)
    const at = `/problems/${code}`
    const nav = guideNav(pages, at)
    write(`${at}.html`, layout({ at, title: titled(title), description, nav, main }).html)
    write(`${at}.md`, markdown)
  }
  write(
    'missing.html',
    layout({
      at: '/missing',
      title: titled('Not here'),
      description: 'There is no such page.',
      nav: guideNav(pages, '/missing'),
      main: missing,
    }).html,
  )
  write('llms.txt', llms(pages, CODES, spec))
  const copy = (path: string, to: string) => files.set(join(out, to), readFileSync(path))
  for (const path of filesIn('public')) copy(path, relative('public', path))
  for (const path of filesIn('schemas')) copy(path, path)
  copy('openapi.json', 'openapi.json')
  settle(out, files)
}

/** Lets a folder hold these files and no other; a service that runs may read what stays the same. */
function settle(out: string, files: ReadonlyMap<string, Buffer>): void {
  for (const [path, content] of files) {
    if (existsSync(path) && readFileSync(path).equals(content)) continue
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
  }
  for (const path of filesIn(out).filter((each) => !files.has(each))) rmSync(path)
}

const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
