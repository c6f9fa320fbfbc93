import type { Context } from 'hono'
import { toApiError } from '../errors.ts'

/** What a visitor reads, by status; of all others the last. */
const PAGES: Record<number, [title: string, text: string]> = {
  403: ['This address needs HTTPS', 'Follow the link again with https:// in front of it.'],
  404: [
    'This link leads nowhere',
    'It may have been mistyped, or is no longer in use. Ask whoever gave it to you for a new one.',
  ],
  405: ['A link is followed with GET', 'Open it in a browser.'],
  503: ['This link cannot be followed right now', 'Please try again in a moment.'],
  500: ['Something went wrong', 'It is not your fault. Please try again later.'],
}

/** Answers a failure to a visitor, who is no developer: a short page instead of JSON. */
export function visitorError(thrown: unknown, c: Context) {
  const { status, details } = toApiError(thrown, c)
  const [title, text] = PAGES[status] ?? PAGES[500]!
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
