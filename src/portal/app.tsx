import { type Context, Hono } from 'hono'
import { respond } from '../pages/base/respond.ts'
import { Problem } from '../pages/passkeys/parts.tsx'
import { nextOf, register, showRegistration, signIn } from '../pages/passkeys/sign-in.tsx'
import { atPasskeyOrigin, policy } from '../pages/show-page.tsx'
import type { AppEnv } from '../platform/auth/authorize.ts'
import { isSafe } from '../platform/auth/roles.ts'
import { WORDS, withWords } from '../platform/documents/texts.ts'
import { ApiError, toApiError } from '../platform/errors.ts'
import { httpsOnly, requestLog } from '../platform/http/request-log.ts'
import { acceptedLanguage } from '../platform/languages.ts'
import { showCustomers } from './customers.tsx'
import { changeGettingPaid, showGettingPaid } from './getting-paid.tsx'
import { changeInvoices, showInvoices } from './invoices.tsx'
import { sendJoin, showJoin } from './join.tsx'
import { PortalPage, portalPath } from './layout.tsx'
import { changeLinks, showLinks } from './links.tsx'
import { changeNotices, showNotices } from './notices.tsx'
import { showOverview } from './overview.tsx'
import { changePasskeys, showPasskeys } from './passkeys-page.tsx'
import { showPayments } from './payments.tsx'
import { changePostbacks, showPostbacks } from './postbacks.tsx'
import { changeQuestions, showQuestions } from './questions.tsx'
import {
  isMember,
  ofVisitor,
  showInvitation,
  showSignIn,
  signOut,
  suspendedPage,
} from './sign-in.tsx'
import { showStatement } from './statement.tsx'
import { showStatements } from './statements.tsx'
import { showSubAffiliates } from './sub-affiliates.tsx'
import { showUnearned } from './unearned.tsx'
import { type MemberVisit, memberVisit } from './visit.ts'

type Handle = (c: Context<AppEnv>, visit: MemberVisit) => Promise<Response>

/** Returns a handler for members who are signed in. Others are sent to the sign-in. */
const forMembers = (handle: Handle) => async (c: Context<AppEnv>) => {
  const visit = await memberVisit(c)
  if (isMember(visit)) return handle(c, visit)
  if (visit.reason === 'suspended') return suspendedPage(c, visit)
  // The browser withholds a `SameSite=Strict` cookie if another site links here, but sends it when the page
  // then loads itself.
  if (isSafe(c.req.method) && c.req.header('Sec-Fetch-Site') === 'cross-site') {
    c.header('Refresh', '0')
    return c.body(null, 200)
  }
  const { pathname, search } = new URL(c.req.url)
  const next = nextOf(pathname + search, portalPath(visit.account.id), c.req.url)
  const query = next === portalPath(visit.account.id) ? '' : `?${new URLSearchParams({ next })}`
  return c.redirect(portalPath(visit.account.id, `/sign-in${query}`), 303)
}

/** Responds with an error as a page of the portal. */
function showError(c: Context<AppEnv>, error: ApiError): Promise<Response> {
  const language = acceptedLanguage(c.req.header('Accept-Language')) ?? 'en'
  const words = WORDS[language]
  const isMissing = error.status === 404
  for (const [name, value] of Object.entries(error.details.headers ?? {})) {
    if (name !== 'WWW-Authenticate') c.header(name, value)
  }
  const account = { id: c.req.param('account') ?? '', name: words.title }
  return respond(
    c,
    <PortalPage
      language={language}
      account={account}
      title={isMissing ? words.not_found : words.failed}
    >
      {error.details.detail && !isMissing && <Problem text={error.details.detail} />}
      {!isMissing && (
        <p>
          <a href={new URL(c.req.url).pathname}>{words.try_again}</a>
        </p>
      )}
    </PortalPage>,
    error.status,
  )
}

/**
 * The portal: pages for affiliates, rendered by the Worker. It is an application beside `app`, whose API of
 * affiliates it uses.
 */
export const portalApp = new Hono<AppEnv>().basePath('/portal/:account')
portalApp.notFound((c) => showError(c, new ApiError('not_found')))
portalApp.onError((thrown, c) => showError(c, toApiError(thrown, c)))
portalApp.use(requestLog, policy, httpsOnly, atPasskeyOrigin, withWords)
portalApp
  .get('/sign-in', showSignIn)
  .post('/sign-in', ofVisitor(signIn))
  .post('/sign-out', signOut)
  .get('/invitation', showInvitation)
  .post('/invitation', ofVisitor(showRegistration))
  .post('/invitation/register', ofVisitor(register))
  .get('/join', showJoin)
  .post('/join', sendJoin)
  .get('/', forMembers(showOverview))
  .get('/statements', forMembers(showStatements))
  .get('/statements/:statement', forMembers(showStatement))
  .get('/customers', forMembers(showCustomers))
  .get('/unearned', forMembers(showUnearned))
  .get('/sub-affiliates', forMembers(showSubAffiliates))
  .get('/payments', forMembers(showPayments))
  .get('/getting-paid', forMembers(showGettingPaid))
  .post('/getting-paid', forMembers(changeGettingPaid))
  .get('/invoices', forMembers(showInvoices))
  .post('/invoices', forMembers(changeInvoices))
  .get('/links', forMembers(showLinks))
  .post('/links', forMembers(changeLinks))
  .get('/questions', forMembers(showQuestions))
  .post('/questions', forMembers(changeQuestions))
  .get('/postbacks', forMembers(showPostbacks))
  .post('/postbacks', forMembers(changePostbacks))
  .get('/notices', forMembers(showNotices))
  .post('/notices', forMembers(changeNotices))
  .get('/passkeys', forMembers(showPasskeys))
  .post('/passkeys', forMembers(changePasskeys))

/** Returns whether a request is for a portal. */
export const isForPortal = (url: string): boolean => new URL(url).pathname.startsWith('/portal/')
