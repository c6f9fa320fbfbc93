import { html } from 'hono/html'
import type { Html } from './tables.ts'

// A printable page: HTML without scripts, and a style sheet of the service.

/** What a page has above its statements. */
export interface PageHead {
  /** The address of the service. */
  readonly origin: string
  readonly title: string
  /** What the page leaves out, and where that is; null if it leaves out nothing. */
  readonly notice: Html | null
}

/** Returns the beginning of a page. */
export const pageStart = ({ origin, title, notice }: PageHead): string =>
  String(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="stylesheet" href="${origin}/assets/statement.css">
</head>
<body>
<header>
<h1>${title}</h1>
${notice && html`<p class="notice">${notice}</p>`}
</header>
<main>
`)

/** The end of a page. */
export const PAGE_END = '</main>\n</body>\n</html>\n'

/** Returns the headers of a page. Its policy allows nothing but the style sheet of the service. */
export const pageHeaders = (origin: string): Record<string, string> => ({
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': [
    "default-src 'none'",
    `style-src ${origin}`,
    "form-action 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; '),
  'Referrer-Policy': 'no-referrer',
})
