import type { Context } from 'hono'
import type { Child } from 'hono/jsx'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { AppEnv } from '../auth/authorize.ts'
import { BYTE_ORDER_MARK } from '../commission/csv.ts'
import { toApiError } from '../errors.ts'
import type { FileRequest } from './api.ts'
import { errorView } from './error-page.tsx'
import { takeFlash } from './flash.ts'
import { type AccountName, Layout } from './layout.tsx'
import type { Page, RefusedForm, View } from './page.ts'
import { SECTION_NAMES } from './pages.ts'
import type { List } from './parts/data.tsx'
import { Refusal } from './parts/forms.tsx'
import { refusedBy } from './refused.ts'
import { respond, respondInParts } from './respond.ts'
import type { Session } from './session.ts'
import { visitOf } from './visit.ts'

/** What came of a change of the page that is shown. */
interface Outcome {
  readonly refused?: RefusedForm
  readonly status?: ContentfulStatusCode
  /** The answer of the change, which is shown once. */
  readonly shown?: Child
}

/** The maximum number of accounts that the switcher lists. */
const LISTED_ACCOUNTS = 50

/**
 * Returns a file under the headers of the console, which no other site can read or frame. CSV begins with a
 * byte order mark: without it Excel would not read it as UTF-8.
 */
function sendFile({ body, headers: own }: Response, { type }: FileRequest): Response {
  const headers = new Headers({ 'Content-Type': `${type}; charset=utf-8` })
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

/** Responds with a page, or with its error, within its navigation. */
export async function showPage(
  c: Context<AppEnv>,
  page: Page,
  session: Session,
  { refused, status = 200, shown }: Outcome = {},
): Promise<Response> {
  const visit = await visitOf(c, page, session, refused ?? null)
  const file = c.req.method === 'GET' ? page.file?.(visit) : null
  if (file) return sendFile(await visit.api.file(file), file)
  const [view, accounts]: [View & Outcome, readonly AccountName[]] = await Promise.all([
    page.render(visit).catch((thrown) => errorView(c, toApiError(thrown, c))),
    visit.account === ''
      ? []
      : visit.api
          .get<List<AccountName>>('/accounts', { per_page: LISTED_ACCOUNTS })
          .then(({ data }) => data),
  ])
  // The navigation of an account that does not exist would lead nowhere.
  const isKnown = view.status !== 404 || accounts.some(({ account }) => account === visit.account)
  const framed = isKnown ? visit : { ...visit, account: '' }
  const done = await takeFlash(c, session)
  const { title, body } = view
  const document = (
    <Layout
      visit={framed}
      title={title}
      accounts={accounts}
      section={page.section}
      sections={SECTION_NAMES}
    >
      {done !== null && (
        <p class="notice good" role="status">
          {done}
        </p>
      )}
      {shown && <div class="notice good">{shown}</div>}
      {body}
    </Layout>
  )
  const { computeDeferred } = view
  if (!computeDeferred) return respond(c, document, view.status ?? status)
  const renderDeferred = async () => <>{await computeDeferred()}</>
  return respondInParts(c, document, status, () =>
    renderDeferred().catch((thrown) => (
      <Refusal {...refusedBy(toApiError(thrown, c), '', () => '')} />
    )),
  )
}
