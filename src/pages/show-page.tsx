import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import type { Child } from 'hono/jsx'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { AppEnv } from '../platform/auth/authorize.ts'
import { isSafe, mayBeShown } from '../platform/auth/roles.ts'
import { passkeyOrigin } from '../platform/development.ts'
import { type ApiError, toApiError } from '../platform/errors.ts'
import { contentSecurityPolicy } from '../platform/http/content-security-policy.ts'
import { beyondScope } from '../platform/http/scope.ts'
import { BYTE_ORDER_MARK } from '../platform/money/csv.ts'
import { readErrors } from './api-errors.ts'
import {
  FILTERS,
  type Page,
  type RefusedForm,
  type Tone,
  type Values,
  type View,
  VisitContext,
} from './base/page.ts'
import { respond } from './base/respond.ts'
import { type Session, takeFlash } from './base/session.ts'
import { AlonePage, Layout } from './layout.tsx'
import { Refusal } from './parts/forms.tsx'
import { detailWords } from './parts/plain-words.ts'
import { Secret } from './parts/rotation.tsx'
import { visitOf } from './visit.ts'

/** Returns what a page shows after the administration API refused one of its changes. */
export const refusedBy = (error: ApiError, change: string, values: Values): RefusedForm => ({
  change,
  values,
  detail: detailWords(error),
  errors: readErrors(error),
})

/** Sets the headers of an error of the administration API, or of the console, and returns it as a view. */
function errorView(c: Context, error: ApiError) {
  const { status, title, details } = error
  for (const [name, value] of Object.entries(details.headers ?? {})) {
    if (name !== 'WWW-Authenticate') c.header(name, value)
  }
  const { pathname, search } = new URL(c.req.url)
  const body = (
    <>
      <Refusal detail={detailWords(error)} errors={readErrors(error)} />
      <p>
        {search && status === 400 && <a href={pathname}>Clear the filters</a>}{' '}
        {status === 503 && isSafe(c.req.method) && (
          <>
            <a href={pathname + search}>Try again</a> ·{' '}
          </>
        )}
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
  return respond(c, <AlonePage title={title}>{body}</AlonePage>, status)
}

const HEADERS = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': contentSecurityPolicy("'self'"),
  'X-Frame-Options': 'DENY',
  // With `no-referrer` browsers would send `Origin: null` with forms, which `isOwnOrigin` refuses.
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
}

/** Sets the security headers of every response of the console. */
export const policy = createMiddleware<AppEnv>(async function policy(c, next) {
  await next()
  for (const [name, value] of Object.entries(HEADERS)) c.res.headers.set(name, value)
})

/** Sends browsers to the host of passkeys: those belong to a name of a host, which the address of `npm run dev` is not. */
export const atPasskeyOrigin = createMiddleware<AppEnv>(async function atPasskeyOrigin(c, next) {
  const { href, hostname } = passkeyOrigin({ BASE_URL: c.req.url })
  return new URL(c.req.url).hostname === hostname ? next() : c.redirect(href, 307)
})

/**
 * Returns whether a page of the console sent this form. Before the sign-in there is no session that a CSRF
 * token could be bound to: without this check, another site could sign its visitor in with its own key.
 */
export function isOwnOrigin({ headers, url }: Request): boolean {
  const origin = headers.get('Origin')
  const site = headers.get('Sec-Fetch-Site')
  if (site !== null && site !== 'same-origin') return false
  return origin === null ? site !== null : origin === new URL(url).origin
}

/** What came of a change of the page that is shown. */
interface Outcome {
  readonly refused?: RefusedForm
  readonly typed?: Values
  readonly status?: ContentfulStatusCode
  /** The answer of the change, which is shown once. */
  readonly shown?: { readonly content: Child; readonly tone: Tone }
}

/**
 * Returns a file under the headers of the console, which no other site can read or frame. CSV begins with a
 * byte order mark: without it Excel would not read it as UTF-8. A file with an ETag is sent byte by byte: a bank or
 * payment service reads it, and the mark would be a part of its first cell.
 */
export function sendFile({ body, headers: own }: Response): Response {
  const [type = ''] = (own.get('Content-Type') ?? '').split(';')
  const isText = type.startsWith('text/')
  const headers = new Headers({ 'Content-Type': isText ? `${type}; charset=utf-8` : type })
  const disposition = own.get('Content-Disposition')
  if (disposition) headers.set('Content-Disposition', disposition)
  const isRead = type === 'text/csv' && !own.has('ETag')
  return new Response(isRead && body ? withByteOrderMark(body) : body, { headers })
}

/** Returns a stream of bytes after a byte order mark. */
function withByteOrderMark(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const mark = new TextEncoder().encode(BYTE_ORDER_MARK)
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      start: (controller) => controller.enqueue(mark),
    }),
  )
}

/** Refuses a page that the scope of a member does not have. */
export function requireShown({ shows }: Page, { member }: Session): void {
  if (!mayBeShown(member, shows)) throw beyondScope('see this page')
}

/** A page as it is shown, or what is sent in its place. */
type Answer = Response | (View & Outcome)

/**
 * Responds with a page or its file, or with its error within its navigation. If its query is refused, the page is shown
 * without it, and its filters keep what was typed.
 */
export async function showPage(
  c: Context<AppEnv>,
  page: Page,
  session: Session,
  { status = 200, shown, ...forms }: Outcome = {},
): Promise<Response> {
  requireShown(page, session)
  const visit = await visitOf(c, page, session, forms)
  const render = async (): Promise<Answer> => {
    const file = isSafe(c.req.method) ? page.file?.(visit) : null
    return file ? sendFile(await file) : page.render(visit)
  }
  const view = await render().catch((thrown): Answer | Promise<Answer> => {
    const error = toApiError(thrown, c)
    if (error.code !== 'invalid_query' || forms.refused?.change === FILTERS)
      return errorView(c, error)
    const refused = refusedBy(error, FILTERS, (name) => visit.query[name] ?? '')
    return showPage(c, page, session, { status: error.status, refused })
  })
  if (view instanceof Response) return view
  if (view.next) return c.redirect(view.next, 303)
  // The navigation of an account that does not exist would lead nowhere.
  const isKnown = view.status !== 404 || visit.accountName !== null
  const done = await takeFlash(c, session)
  const { title, body } = view
  const document = (
    <VisitContext.Provider value={isKnown ? visit : { ...visit, account: '' }}>
      <Layout title={title} section={page.section}>
        {typeof done === 'string' && (
          <p class="notice good" role="status">
            {done}
          </p>
        )}
        {done !== null && typeof done !== 'string' && <Secret shown={done} />}
        {visit.refused && <Refusal {...visit.refused} />}
        {shown && <div class={`notice ${shown.tone}`}>{shown.content}</div>}
        {body}
      </Layout>
    </VisitContext.Provider>
  )
  return respond(c, document, view.status ?? status, {
    deferred: visit.deferred,
    renderFault: (thrown) => <Refusal {...refusedBy(toApiError(thrown, c), '', () => '')} />,
  })
}
