import type { Context } from 'hono'
import type { ApiError } from '../errors.ts'
import { Document, Home } from './layout.tsx'
import { Sentence } from './parts/data.tsx'
import { placeOf } from './parts/deliveries.tsx'
import { readErrors } from './refused.ts'
import { respond } from './respond.ts'

/** Sets the headers of an error of the administration API, or of the console, and returns it as a view. */
export function errorView(c: Context, error: ApiError) {
  const { status, title, details } = error
  for (const [name, value] of Object.entries(details.headers ?? {})) {
    if (name !== 'WWW-Authenticate') c.header(name, value)
  }
  const { pathname, search } = new URL(c.req.url)
  const body = (
    <>
      <p class="lead">{details.detail && <Sentence text={details.detail} />}</p>
      <ul>
        {readErrors(error).map(({ pointer, message, hint }) => (
          <li>
            {pointer && <code>{placeOf(pointer)}</code>} <Sentence text={message} />{' '}
            {hint && <Sentence text={hint} />}
          </li>
        ))}
      </ul>
      <p>
        {search && status === 400 && <a href={pathname}>Clear the filters</a>}{' '}
        <a href="/console">All accounts</a> ·{' '}
        <a href={`/problems/${error.code}`}>About this error</a>
      </p>
      <p class="note">
        Status {status}, request <code>{c.var.requestId}</code>
      </p>
    </>
  )
  return { title, body, status }
}

/** Responds with an error as a page without the navigation of an account. */
export function showError(c: Context, error: ApiError): Promise<Response> {
  const { title, body, status } = errorView(c, error)
  const page = (
    <Document title={title}>
      <header class="top">
        <Home />
      </header>
      <div class="frame alone">
        <main id="main" tabindex={-1}>
          <h1>{title}</h1>
          {body}
        </main>
      </div>
    </Document>
  )
  return respond(c, page, status)
}
