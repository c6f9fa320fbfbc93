import type { Context } from 'hono'
import type { ApiError } from '../errors.ts'
import { Document, Home } from './layout.tsx'
import { Sentence } from './parts/data.tsx'
import { readErrors } from './refused.ts'
import { respond } from './respond.ts'

/** Responds with an error of the administration API, or of the console, as a page. */
export function showError(c: Context, error: ApiError): Promise<Response> {
  const { status, title, details } = error
  for (const [name, value] of Object.entries(details.headers ?? {})) {
    if (name !== 'WWW-Authenticate') c.header(name, value)
  }
  const page = (
    <Document title={title}>
      <header class="top">
        <Home />
      </header>
      <div class="frame alone">
        <main id="main" tabindex={-1}>
          <h1>{title}</h1>
          <p class="lead">{details.detail && <Sentence text={details.detail} />}</p>
          <ul>
            {readErrors(error).map(({ pointer, message, hint }) => (
              <li>
                {pointer && <code>{pointer}</code>} <Sentence text={message} />{' '}
                {hint && <Sentence text={hint} />}
              </li>
            ))}
          </ul>
          <p>
            <a href="/console">All accounts</a> ·{' '}
            <a href={`/problems/${error.code}`}>About this error</a>
          </p>
          <p class="note">
            Status {status}, request <code>{c.var.requestId}</code>
          </p>
        </main>
      </div>
    </Document>
  )
  return respond(c, page, status)
}
