import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import type { Child } from 'hono/jsx'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { listAccounts } from '../accounts/accounts.ts'
import { BYTE_ORDER_MARK, csvHeaders } from '../commission/csv.ts'
import type { AppEnv } from '../platform/auth/authorize.ts'
import { type ApiError, toApiError } from '../platform/errors.ts'
import { contentSecurityPolicy } from '../platform/http/content-security-policy.ts'
import { readErrors } from './api-errors.ts'
import { type AccountName, Document, Home, Layout } from './layout.tsx'
import {
  type CsvFile,
  type Page,
  type RefusedForm,
  type Tone,
  type TypedForm,
  type Values,
  type View,
  VisitContext,
} from './page.ts'
import { FormSentence, Refusal } from './parts/forms.tsx'
import { detailWords } from './parts/plain-words.ts'
import { Secret } from './parts/rotation.tsx'
import { respond, respondInParts } from './respond.ts'
import { type Session, takeFlash } from './session.ts'
import { visitOf } from './visit.ts'

/** Returns what a page shows after the administration API refused one of its changes. */
export const refusedBy = (error: ApiError, change: string, values: Values): RefusedForm => ({
  change,
  values,
  code: error.code,
  detail: detailWords(error),
  errors: readErrors(error),
  heldBy: error.details.held_by,
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
        {status === 503 && c.req.method === 'GET' && (
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

/** Renders why a deferred part could not be computed. What is over soon is no fault of the member. */
function DeferredError({ c, thrown }: { c: Context; thrown: unknown }) {
  const error = toApiError(thrown, c)
  if (error.status !== 503) return <Refusal {...refusedBy(error, '', () => '')} />
  const { pathname, search } = new URL(c.req.url)
  return (
    <div class="notice warn" role="alert">
      <p>
        <FormSentence text={detailWords(error)} /> <a href={pathname + search}>Try again</a>
      </p>
    </div>
  )
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
  readonly typed?: TypedForm
  readonly status?: ContentfulStatusCode
  /** The answer of the change, which is shown once. */
  readonly shown?: { readonly content: Child; readonly tone: Tone }
}

/** The maximum number of accounts that the switcher lists. */
const LISTED_ACCOUNTS = 50

/**
 * Returns a file under the headers of the console, which no other site can read or frame. CSV begins with a
 * byte order mark: without it Excel would not read it as UTF-8.
 */
function sendFile({ body, headers: own }: Response): Response {
  const [type = ''] = (own.get('Content-Type') ?? '').split(';')
  const isText = type.startsWith('text/')
  const headers = new Headers({ 'Content-Type': isText ? `${type}; charset=utf-8` : type })
  const disposition = own.get('Content-Disposition')
  if (disposition || type === 'text/csv') {
    headers.set('Content-Disposition', disposition ?? 'attachment; filename="export.csv"')
  }
  return new Response(type === 'text/csv' && body ? withByteOrderMark(body) : body, { headers })
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

/** Responds with a CSV file that a page has made. */
export const sendCsv = ({ csv, name }: CsvFile): Response =>
  sendFile(new Response(csv, { headers: csvHeaders(...name) }))

/** Responds with a page, or with its error, within its navigation. */
export async function showPage(
  c: Context<AppEnv>,
  page: Page,
  session: Session,
  { status = 200, shown, ...forms }: Outcome = {},
): Promise<Response> {
  const visit = await visitOf(c, page, session, forms)
  const file = c.req.method === 'GET' ? page.file?.(visit) : null
  if (file) return sendFile(await file)
  // They are read at the same time as what the page itself reads.
  if (visit.account !== '') visit.names.begin()
  const [view, accounts]: [View & Outcome, readonly AccountName[]] = await Promise.all([
    page.render(visit).catch((thrown) => errorView(c, toApiError(thrown, c))),
    visit.account === ''
      ? []
      : visit.api.call(listAccounts, { per_page: LISTED_ACCOUNTS }).then(({ data }) => data),
  ])
  if (view.next) return c.redirect(view.next, 303)
  // The navigation of an account that does not exist would lead nowhere.
  const isKnown = view.status !== 404 || accounts.some(({ account }) => account === visit.account)
  const done = await takeFlash(c, session)
  const { title, body } = view
  const document = (
    <VisitContext.Provider value={isKnown ? visit : { ...visit, account: '' }}>
      <Layout title={title} accounts={accounts} section={page.section}>
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
  const { computeDeferred } = view
  if (!computeDeferred) return respond(c, document, view.status ?? status)
  const renderDeferred = async () => (
    <VisitContext.Provider value={visit}>{await computeDeferred()}</VisitContext.Provider>
  )
  return respondInParts(c, document, status, () =>
    renderDeferred().catch((thrown) => <DeferredError c={c} thrown={thrown} />),
  )
}
