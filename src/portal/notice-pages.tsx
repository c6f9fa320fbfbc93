import { type Context, Hono } from 'hono'
import type { Child } from 'hono/jsx'
import { respond } from '../pages/base/respond.ts'
import { isOwnOrigin, policy } from '../pages/show-page.tsx'
import { readCurrent } from '../payouts/db/payees.ts'
import { blockDetails } from '../payouts/payees.ts'
import { affiliateOf } from '../people/db/facts.ts'
import { findNotice, stopMail, useLink } from '../people/db/recipients.ts'
import type { AppEnv } from '../platform/auth/authorize.ts'
import { readLink } from '../platform/auth/notice-links.ts'
import { accountDatabase } from '../platform/db/database.ts'
import type { Account } from '../platform/db/schema.ts'
import { findAccount } from '../platform/directory/accounts.ts'
import { requiredChange } from '../platform/directory/audit.ts'
import type { StoredNotice } from '../platform/directory/outbox.ts'
import { WORDS, type Words, withWords } from '../platform/documents/texts.ts'
import { ApiError } from '../platform/errors.ts'
import { httpsOnly, requestLog } from '../platform/http/request-log.ts'
import { acceptedLanguage } from '../platform/languages.ts'

// The pages of links in e-mails that act without a sign-in. A page asks; only its button acts. A mail program switches
// notices off by a POST of its own (RFC 8058).

type Status = 200 | 404 | 409

const languageOf = (c: Context) => acceptedLanguage(c.req.header('Accept-Language')) ?? 'en'

/** Responds with a page that says something and, if it asks, has one button. */
function show(
  c: Context<AppEnv>,
  title: keyof Words,
  { text, asks, status = 200 }: { text?: Child; asks?: boolean; status?: Status },
): Promise<Response> {
  const language = languageOf(c)
  const words = WORDS[language]
  return respond(
    c,
    <html lang={language}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>{words[title]}</title>
        <link rel="stylesheet" href="/assets/page.css" />
        <link rel="stylesheet" href="/assets/console.css" />
        <link rel="stylesheet" href="/assets/portal.css" />
      </head>
      <body class="console portal">
        <main id="main" tabindex={-1}>
          <h1>{words[title]}</h1>
          {text && <p class="lead">{text}</p>}
          {asks && (
            <form method="post" class="change">
              <button type="submit">{words[title]}</button>
            </form>
          )}
        </main>
      </body>
    </html>,
    status,
  )
}

const ended = (c: Context<AppEnv>) => show(c, 'link_ended', { status: 404 })

const tokenOf = (c: Context<AppEnv>) => c.req.param('token') ?? ''

/** What a link blocks. */
interface Blocking {
  readonly account: Account
  readonly db: D1Database
  readonly notice: StoredNotice
  readonly affiliate: string
}

/** Returns what the link of a request blocks; null if it has ended, was used, or other details are current since. */
async function blockingOf(c: Context<AppEnv>): Promise<Blocking | null> {
  const linked = await readLink(c.env, 'block', tokenOf(c), Date.now())
  const account = linked && (await findAccount(c.env.DB, linked.account))
  if (!account || account.disabled === 1) return null
  const db = accountDatabase(c.env, account)
  const notice = await findNotice(db, account.id, linked.id)
  const affiliate = notice && affiliateOf(notice)
  if (!notice || !affiliate || notice.used_at !== null) return null
  const found = await readCurrent(db, { account: account.id, party: 'payee' }, [affiliate])
  const { version, state } = found.get(affiliate) ?? { version: 0, state: 'missing' }
  const later = version - Number.parseInt(notice.cause, 10)
  const isOpen = state !== 'missing' && state !== 'blocked' && (later === 0 || later === 1)
  return isOpen ? { account, db, notice, affiliate } : null
}

async function askToBlock(c: Context<AppEnv>): Promise<Response> {
  const found = await blockingOf(c)
  if (!found) return ended(c)
  const text = WORDS[languageOf(c)].block_lead.replace('{account}', found.account.name)
  return show(c, 'block', { text, asks: true })
}

async function block(c: Context<AppEnv>): Promise<Response> {
  // Another site could otherwise have its visitor block what a link names.
  const found = isOwnOrigin(c.req.raw) ? await blockingOf(c) : null
  if (!found) return ended(c)
  const { account, db, notice, affiliate } = found
  const call = {
    ...{ env: c.env, account, db, actor: `notice ${notice.id}` },
    waitUntil: (task: Promise<unknown>) => c.executionCtx.waitUntil(task),
  }
  const reason = 'Somebody who was told of the change says that it was not them.'
  await blockDetails(call, 'payee', affiliate, reason, () => requiredChange(db, ...useLink(notice)))
  return show(c, 'blocked', {})
}

const offOf = (c: Context<AppEnv>) => readLink(c.env, 'off', tokenOf(c), Date.now())

async function askToStop(c: Context<AppEnv>): Promise<Response> {
  if (!(await offOf(c))) return ended(c)
  return show(c, 'off', { text: WORDS[languageOf(c)].off_lead, asks: true })
}

async function stop(c: Context<AppEnv>): Promise<Response> {
  const linked = await offOf(c)
  if (!linked) return ended(c)
  await stopMail(c.env.DB, { account: linked.account, address: linked.id, reason: 'off' })
  return show(c, 'is_off', {})
}

/** The application of links in e-mails. */
export const noticeApp = new Hono<AppEnv>().basePath('/notices')
noticeApp.onError((thrown, c) =>
  thrown instanceof ApiError && thrown.status < 500
    ? show(c, 'link_ended', { status: 409 })
    : Promise.reject(thrown),
)
noticeApp.notFound(ended)
noticeApp
  .use(requestLog, policy, httpsOnly, withWords)
  .get('/block/:token', askToBlock)
  .post('/block/:token', block)
  .get('/off/:token', askToStop)
  .post('/off/:token', stop)

/** Returns whether a request is for a link of an e-mail. */
export const isForNotices = (url: string): boolean => new URL(url).pathname.startsWith('/notices/')
