import type { Html } from './tables.ts'
import { html } from './visible-html.ts'

// A printable page: HTML without scripts, and a style sheet of the service.

/**
 * Returns a page of a statement. Its title is for screen readers: the statement has a heading.
 *
 * @param origin The address of the service.
 * @param language The language of the page, such as `de`.
 */
export const pageOf = (origin: string, title: string, language: string, article: Html): string =>
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
<h1 class="spoken">${title}</h1>
</header>
<main>
${article}</main>
</body>
</html>
`)

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
