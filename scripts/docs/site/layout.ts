import { type Html, html } from './html.ts'

/** What a page is put together from. */
export interface Page {
  /** Where it is: `/docs/start`. */
  at: string
  title: string
  description: string
  /** The list of pages beside it; on a phone it is a menu. */
  nav?: Html
  main: Html
  /** Our script, by its file. */
  script?: string
}

/** What every page leads to. */
const PLACES = [
  { at: '/docs/start', title: 'Guide' },
  { at: '/docs', title: 'Reference' },
  { at: '/docs/errors', title: 'Errors' },
  { at: '/openapi.json', title: 'OpenAPI' },
]

const current = (is: boolean) => is && html` aria-current="page"`

/** A link of a list, marked if it is the page on which it stands. */
export const linkTo = (at: string, title: string | Html, here: string) =>
  html`<a href="${at}"${current(at === here)}>${title}</a>`

/** A whole page: nothing in it comes from elsewhere, and no style or script stands in it. */
export const layout = ({ at, title, description, nav, main, script }: Page) => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<meta name="description" content="${description}">
<link rel="icon" href="/assets/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/assets/page.css">
<script src="/assets/page.js" defer></script>
${script && html`<script src="/assets/${script}" defer></script>\n`}</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="top">
<a class="home" href="/"${current(at === '/')}><img src="/assets/favicon.svg" alt="" width="22" height="22">Tributary</a>
<nav aria-label="Places">${PLACES.map((place) => linkTo(place.at, place.title, at))}</nav>
</header>
<div class="${nav ? 'frame' : 'frame alone'}">
${
  nav &&
  html`<nav class="side" aria-label="Pages">${nav}</nav>
<details class="menu"><summary>Menu</summary><nav aria-label="Pages">${nav}</nav></details>
`
}<main id="main" tabindex="-1">
${main}</main>
</div>
</body>
</html>
`
