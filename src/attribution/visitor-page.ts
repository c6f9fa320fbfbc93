import type { Context } from 'hono'
import { toApiError } from '../platform/errors.ts'

/** The title and text of the page for all other statuses. */
const FALLBACK = ['Something went wrong', 'This was our mistake. Please try again later.'] as const

/** The title and text of each error page, by status. */
const PAGES: Readonly<Record<number, readonly [title: string, text: string]>> = {
  403: ['This link needs HTTPS', 'Open the link again with https:// at the start of the address.'],
  404: [
    'This link does not work',
    'It may be mistyped or no longer in use. Ask the person who gave it to you for a new one.',
  ],
  405: ['This request method is not supported', 'Open the link in a browser.'],
  503: ['This link is temporarily unavailable', 'Please try again in a moment.'],
}

/** Returns an error as a short page: visitors of a link are not developers. */
export function visitorError(thrown: unknown, c: Context) {
  const { status, details } = toApiError(thrown, c)
  const [title, text] = PAGES[status] ?? FALLBACK
  const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<style>:root { color-scheme: light dark } body { font: 1.1rem/1.5 system-ui; margin: 20vh auto; max-width: 30rem; padding: 0 1rem }</style>
<h1>${title}</h1>
<p>${text}</p>
</html>
`
  return c.html(page, status, {
    ...details.headers,
    'Cache-Control': 'no-store',
    'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'",
  })
}
