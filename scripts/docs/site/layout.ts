import { type Html, html } from './html.ts'

/** The parts of a page. */
export interface Page {
  /** The address, such as `/docs/start`. */
  at: string
  title: string
  description: string
  /** The navigation beside the content. On narrow screens, the menu of the header has it. */
  nav?: Html
  main: Html
  /** The file name of a script that only this page needs. */
  script?: string
}

/** The destinations in the header of every page. */
const SECTIONS = [
  { at: '/docs/start', title: 'Guide', holds: /^\/docs\/(?!reference|errors)/ },
  { at: '/docs/reference', title: 'Reference', holds: /^\/docs\/reference/ },
  { at: '/docs/errors', title: 'Errors', holds: /^\/docs\/errors/ },
  { at: '/console', title: 'Console', holds: /^$/ },
]

/** Renders a link. Marks it as current if it leads to the page that contains it. */
export const linkTo = (at: string, title: string | Html, here: string) =>
  html`<a href="${at}"${at === here && html` aria-current="page"`}>${title}</a>`

const sectionLink = ({ at, title, holds }: (typeof SECTIONS)[number], here: string) =>
  at !== here && holds.test(here)
    ? html`<a href="${at}" aria-current="true">${title}</a>`
    : linkTo(at, title, here)

const HOME = html`<img src="/assets/favicon.svg" alt="" width="22" height="22">Tributary`

const script = (file: string) => html`<script src="/assets/${file}" type="module"></script>\n`

/** Renders a complete page. It loads nothing from other origins and has no inline style or script. */
export const layout = (page: Page) => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${page.title}</title>
<meta name="description" content="${page.description}">
<link rel="icon" href="/assets/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/assets/page.css">
<link rel="stylesheet" href="/assets/code.css">
${['page.js', 'search.js', ...(page.script ? [page.script] : [])].map(script)}</head>
<body class="docs">
<a class="skip" href="#main">Skip to the content</a>
<header class="top">
${linkTo('/', HOME, page.at)}
<nav aria-label="Sections">${SECTIONS.map((section) => sectionLink(section, page.at))}</nav>
<details class="menu"><summary>Menu</summary><nav aria-label="Menu"><ul>${SECTIONS.map(
  (section) => html`<li>${sectionLink(section, page.at)}</li>`,
)}</ul>
${page.nav}</nav></details>
</header>
<div class="${page.nav ? 'frame' : 'frame alone'}">
${
  page.nav &&
  html`<nav class="side" aria-label="Pages">${page.nav}</nav>
`
}<main id="main" tabindex="-1">
${page.main}</main>
</div>
</body>
</html>
`
