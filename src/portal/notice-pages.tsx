import { type Context, Hono } from 'hono'
import { respond } from '../pages/base/respond.ts'
import { isOwnOrigin, policy } from '../pages/show-page.tsx'
import { readCurrent } from '../payouts/db/payees.ts'
import { blockDetails } from '../payouts/payees.ts'
import { proveApplication } from '../people/db/applications.ts'
import { affiliateOf } from '../people/db/facts.ts'
import { findNotice, stopMail, useLink } from '../people/db/recipients.ts'
import type { AppEnv } from '../platform/auth/authorize.ts'
import { type Linked, readLink } from '../platform/auth/notice-links.ts'
import { accountDatabase } from '../platform/db/database.ts'
import { findAccount, signUpOf } from '../platform/directory/accounts.ts'
import { requiredChange } from '../platform/directory/audit.ts'
import { WORDS, type Words, withWords } from '../platform/documents/texts.ts'
import { ApiError } from '../platform/errors.ts'
import { httpsOnly, requestLog } from '../platform/http/request-log.ts'
import { acceptedLanguage, fill } from '../platform/languages.ts'

// The pages of links in e-mails that act without a sign-in. A page asks; only its button acts. A mail program switches
// notices off by a POST of its own (RFC 8058).

type Status = 200 | 404 | 409

const languageOf = (c: Context) => acceptedLanguage(c.req.header('Accept-Language')) ?? 'en'

/** Responds with a page that says something and, if it asks, has one button. */
function show(
  c: Context<AppEnv>,
  title: keyof Words,
  { text, asks, status = 200 }: { text?: string; asks?: boolean; status?: Status },
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

/** What a link can do now. */
interface Deed {
  readonly text: string
  /** Does it, and shows what is true then. */
  act(): Promise<Response>
}

/** Returns what a link that was read can do now; null if nothing any more. */
type Prepare = (c: Context<AppEnv>, linked: Linked) => Promise<Deed | null>

/** Proves the address of an application. A closed account answers as one that does not exist. */
const application: Prepare = async (c, { account: of, id }) => {
  const account = await findAccount(c.env.DB, of)
  if (!account || account.disabled === 1 || !signUpOf(account).open) return null
  const words = WORDS[languageOf(c)]
  const said = (text: string) => fill(text, { account: account.name })
  return {
    text: said(words.confirm_lead),
    async act() {
      const status = await proveApplication(accountDatabase(c.env, account), of, id, Date.now())
      if (status === null) return ended(c)
      const isFull = status === 'unproved'
      const text = said(isFull ? words.join_full : words.confirmed)
      return show(c, 'confirm', { text, status: isFull ? 409 : 200 })
    },
  }
}

/** Blocks the bank details of a change, unless it was used, or other details are current since. */
const block: Prepare = async (c, linked) => {
  const account = await findAccount(c.env.DB, linked.account)
  if (!account || account.disabled === 1) return null
  const db = accountDatabase(c.env, account)
  const notice = await findNotice(db, account.id, linked.id)
  const affiliate = notice && affiliateOf(notice)
  if (!notice || !affiliate || notice.used_at !== null) return null
  const found = await readCurrent(db, { account: account.id, party: 'payee' }, [affiliate])
  const { version, state } = found.get(affiliate) ?? { version: 0, state: 'missing' }
  const later = version - Number.parseInt(notice.cause, 10)
  if (state === 'missing' || state === 'blocked' || (later !== 0 && later !== 1)) return null
  return {
    text: fill(WORDS[languageOf(c)].block_lead, { account: account.name }),
    async act() {
      const call = {
        ...{ env: c.env, account, db, actor: `notice ${notice.id}` },
        waitUntil: (task: Promise<unknown>) => c.executionCtx.waitUntil(task),
      }
      const reason = 'Somebody who was told of the change says that it was not them.'
      const use = () => requiredChange(db, ...useLink(notice))
      await blockDetails(call, 'payee', affiliate, reason, use)
      return show(c, 'blocked', {})
    },
  }
}

/** Stops the e-mails to an address that are not about security. */
const off: Prepare = async (c, { account, id }) => ({
  text: WORDS[languageOf(c)].off_lead,
  async act() {
    await stopMail(c.env.DB, { account, address: id, reason: 'off' })
    return show(c, 'is_off', {})
  },
})

/** What each link does, and the title of its page, which its button has, too. */
const LINKS = {
  application: ['confirm', application],
  block: ['block', block],
  off: ['off', off],
} as const

/** Responds to whoever opens a link, or presses the button of its page. */
const answer = (act: keyof typeof LINKS) => async (c: Context<AppEnv>) => {
  const [title, prepare] = LINKS[act]
  const isPressed = c.req.method === 'POST'
  // Another site could otherwise have its visitor do what a link names. A mail program has no origin.
  const isOwn = !isPressed || act === 'off' || isOwnOrigin(c.req.raw)
  const linked = isOwn ? await readLink(c.env, act, c.req.param('token') ?? '', Date.now()) : null
  const deed = linked && (await prepare(c, linked))
  if (!deed) return ended(c)
  return isPressed ? deed.act() : show(c, title, { text: deed.text, asks: true })
}

/** The application of links in e-mails. */
export const noticeApp = new Hono<AppEnv>().basePath('/notices')
noticeApp.onError((thrown, c) =>
  thrown instanceof ApiError && thrown.status < 500
    ? show(c, 'link_ended', { status: 409 })
    : Promise.reject(thrown),
)
noticeApp.notFound(ended)
noticeApp.use(requestLog, policy, httpsOnly, withWords)
for (const act of ['application', 'block', 'off'] as const) {
  noticeApp.on(['GET', 'POST'], `/${act}/:token`, answer(act))
}

/** Returns whether a request is for a link of an e-mail. */
export const isForNotices = (url: string): boolean => new URL(url).pathname.startsWith('/notices/')
