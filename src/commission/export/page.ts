import type { Html } from './tables.ts'
import { html } from './visible-html.ts'

// A printable page: HTML without scripts, and a style sheet of the service.

/** What a page has above its statements. */
export interface PageHead {
  /** The address of the service. */
  readonly origin: string
  readonly title: string
  /** The language of the page, such as `de`. */
  readonly language: string
  /** Whether the page is one statement, whose own heading says what it is: only screen readers read the title. */
  readonly isSingle: boolean
  /** What the page leaves out, and where that is; null if it leaves out nothing. */
  readonly notice: Html | null
}

/** Returns the beginning of a page. */
export const pageStart = ({ origin, title, language, isSingle, notice }: PageHead): string =>
  String(html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="${origin}/assets/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${origin}/assets/statement.css">
</head>
<body>
<header>
<h1${isSingle ? html` class="spoken"` : ''}>${title}</h1>
${notice && html`<p class="notice">${notice}</p>`}
</header>
<main>
`)

/** The end of a page. */
export const PAGE_END = '</main>\n</body>\n</html>\n'

/** Returns the headers of a page. Its policy allows nothing but the style sheet and the icon of the service. */
export const pageHeaders = (origin: string): Record<string, string> => ({
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': [
    "default-src 'none'",
    `style-src ${origin}`,
    `img-src ${origin}`,
    "form-action 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; '),
  'Referrer-Policy': 'no-referrer',
})
