import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { transformSync } from 'esbuild'
import { translations } from '../../texts.ts'
import {
  AUDIENCE_DOCUMENTS,
  type AudienceDocument,
  documentAddress,
  documentFor,
} from '../openapi/audiences.ts'
import { TEMPLATE_FOLDER } from '../plans.ts'
import { type GuidePage, guide } from './guide.ts'
import { home } from './home.ts'
import { html } from './html.ts'
import { layout, linkTo, type Page } from './layout.ts'
import { llms } from './llms.ts'
import { anchorOf } from './markdown.ts'
import { AUDIENCES, addressOf, descriptionOf, PAGES } from './reference/pages.ts'
import { operationsPage, overviewPage, referenceNav } from './reference/reference.ts'
import { searchIndex } from './search.ts'
import type { Spec } from './spec.ts'

// The site is a function from openapi.json and Markdown to strings. A static-site generator would
// add a theme and client-side code, both of which the Content-Security-Policy restricts.

const has = (own: readonly GuidePage[], here: string) => Number(own.some(({ at }) => at === here))

/** Renders the list of the guide's pages, with the headings of the current page. Its part comes first. */
const guideNav = (pages: readonly GuidePage[], here: string) => html`${[
  ...Map.groupBy(pages, ({ part }) => part),
]
  .sort(([, a], [, b]) => has(b, here) - has(a, here))
  .map(
    ([part, own]) => html`<h2>${part}</h2>
<ul>
${own.map(
  ({ at, title, headings }) => html`<li>${linkTo(at, title, here)}${
    at === here &&
    headings.length > 0 &&
    html`
<ul>${headings.map((heading) => html`<li><a href="#${heading.anchor}">${heading.title}</a></li>`)}</ul>`
  }</li>
`,
)}</ul>
`,
  )}<h2>Reference</h2>
<ul>
${AUDIENCES.map(({ title }) => html`<li>${linkTo(`/docs/reference#${anchorOf(title)}`, title, here)}</li>\n`)}</ul>
`

/** Renders a page of the guide with links to its neighbours and to its Markdown. */
function guideMain({ at, title, body }: GuidePage, previous?: GuidePage, next?: GuidePage) {
  return html`<h1>${title}</h1>
${body}
<p class="twin"><a href="${at}.md">View as Markdown</a></p>
<nav class="turn" aria-label="Next pages">
${previous && html`<a rel="prev" href="${previous.at}"><small>Previous</small> ${previous.title}</a>`}
${next && html`<a rel="next" href="${next.at}"><small>Next</small> ${next.title}</a>`}
</nav>
`
}

const missing = html`<h1>Page not found</h1>
<p class="lead">This page does not exist.</p>
<p>The <a href="/docs/errors">errors page</a> explains every error code. The <a href="/">home page</a>
leads to the guide and the reference.</p>
`

const referencePages = (spec: Spec): Page[] => [
  {
    at: '/docs/reference',
    title: 'API reference',
    description: 'Every operation of the API, by audience and topic.',
    nav: referenceNav(spec),
    main: overviewPage(spec),
  },
  ...PAGES.map((page) => ({
    at: addressOf(page),
    title: `${page.title} reference`,
    description: descriptionOf(page, spec),
    nav: referenceNav(spec, page),
    main: operationsPage(page, spec),
    script: 'reference.js',
  })),
]

const guidePages = (pages: readonly GuidePage[]): Page[] =>
  pages.map((page, i) => ({
    ...page,
    nav: guideNav(pages, page.at),
    main: guideMain(page, pages[i - 1], pages[i + 1]),
  }))

const missingPage = (pages: readonly GuidePage[]): Page => ({
  at: '/missing',
  title: 'Page not found',
  description: 'This page does not exist.',
  nav: guideNav(pages, '/missing'),
  main: missing,
})

/** MiniSearch as a module for the browser. Its package is not minified and has no license header. */
function miniSearch(): string {
  const source = readFileSync('node_modules/minisearch/dist/es/index.js', 'utf8')
  const { version } = JSON.parse(readFileSync('node_modules/minisearch/package.json', 'utf8'))
  const license = `/*! MiniSearch ${version}, Copyright (c) Luca Ongaro, MIT License */\n`
  return license + source.replace(/\/\/# sourceMappingURL=.*\n?/, '')
}

/** uPlot as a module for the browser, which draws the charts of the console. */
function uPlot(): string {
  const source = readFileSync('node_modules/uplot/dist/uPlot.esm.js')
  // Its own comment with the license begins the file.
  return transformSync(source, { minify: true, legalComments: 'inline' }).code
}

/** The folders of the pictures. `scripts/pictures.ts` takes them. */
const PICTURES = ['docs/console', 'docs/portal']

/** Writes all files that the Worker serves as documents to a folder. */
export function buildSite() {
  const out = 'dist/site'
  const files = new Map<string, Buffer>()
  const write = (path: string, text: string) => files.set(join(out, path), Buffer.from(text))
  const spec: Spec = JSON.parse(readFileSync('openapi.json', 'utf8'))
  const pages = guide()
  const { title: product, summary } = spec.info
  const main = home(spec)
  const homePage = {
    at: '/',
    title: `${product}: what affiliates are owed, from records`,
    description: summary,
    main,
  }
  write('index.html', layout(homePage).html)
  const all = [...referencePages(spec), ...guidePages(pages), missingPage(pages)]
  for (const page of all) {
    write(`${page.at}.html`, layout({ ...page, title: `${page.title} · ${product}` }).html)
  }
  for (const { at, markdown } of pages) write(`${at}.md`, markdown)
  write('llms.txt', llms(pages, spec))
  write('assets/search.json', JSON.stringify(searchIndex(pages, spec)))
  write('assets/minisearch.js', miniSearch())
  write('assets/uplot.js', uPlot())
  write('assets/uplot.css', readFileSync('node_modules/uplot/dist/uPlot.min.css', 'utf8'))
  const copy = (path: string, to: string) => files.set(join(out, to), readFileSync(path))
  for (const path of filesIn('public')) copy(path, relative('public', path))
  for (const path of PICTURES.flatMap(filesIn)) copy(path, `assets/${basename(path)}`)
  for (const path of filesIn('schemas')) copy(path, path)
  for (const path of filesIn(TEMPLATE_FOLDER)) copy(path, `assets/plan-${basename(path)}`)
  copy('openapi.json', 'openapi.json')
  for (const name of Object.keys(AUDIENCE_DOCUMENTS) as AudienceDocument[]) {
    write(documentAddress(name), `${JSON.stringify(documentFor(spec, name), null, 2)}\n`)
  }
  write('words.json', JSON.stringify(translations()))
  synchronize(out, files)
}

/** Makes a folder hold exactly these files. Unchanged files stay: a service may be reading them. */
function synchronize(out: string, files: ReadonlyMap<string, Buffer>): void {
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
