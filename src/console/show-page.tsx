import type { Context } from 'hono'
import type { Child } from 'hono/jsx'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { AppEnv } from '../auth/authorize.ts'
import { takeFlash } from './flash.ts'
import { type AccountName, Layout } from './layout.tsx'
import type { Page, RefusedForm } from './page.ts'
import { SECTION_NAMES } from './pages.ts'
import type { List } from './parts/data.tsx'
import { respond } from './respond.ts'
import type { Session } from './session.ts'
import { visitOf } from './visit.ts'

/** What came of a change of the page that is shown. */
interface Outcome {
  readonly refused?: RefusedForm
  readonly status?: ContentfulStatusCode
  /** The answer of the change, which is shown once. */
  readonly shown?: Child
}

/** The most accounts that the switcher lists. */
const LISTED_ACCOUNTS = 50

/** Responds with a page, within its navigation. */
export async function showPage(
  c: Context<AppEnv>,
  page: Page,
  session: Session,
  { refused, status, shown }: Outcome = {},
): Promise<Response> {
  const visit = await visitOf(c, page, session, refused ?? null)
  if (page.csv && visit.query.format === 'csv') {
    const { path, query } = page.csv(visit)
    return visit.api.csv(path, query)
  }
  const [view, accounts] = await Promise.all([
    page.render(visit),
    visit.account === ''
      ? []
      : visit.api
          .get<List<AccountName>>('/accounts', { per_page: LISTED_ACCOUNTS })
          .then(({ data }) => data),
  ])
  const done = takeFlash(c)
  return respond(
    c,
    <Layout
      visit={visit}
      title={view.title}
      section={page.section}
      sections={SECTION_NAMES}
      accounts={accounts}
    >
      {done !== null && (
        <p class="notice good" role="status">
          {done}
        </p>
      )}
      {shown && <div class="notice good">{shown}</div>}
      {view.body}
    </Layout>,
    status,
  )
}
