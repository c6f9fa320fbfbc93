import type { Context } from 'hono'
import { findByKey } from '../../platform/auth/admin-keys.ts'
import type { AppEnv } from '../../platform/auth/authorize.ts'
import { isSafe } from '../../platform/auth/roles.ts'
import { passkeyProof } from '../../platform/auth/team-session.ts'
import {
  acceptTeamInvitation,
  type FoundTeamInvitation,
  findTeamInvitation,
  findTeamPasskey,
  TEAM_PASSKEYS,
} from '../../platform/directory/member-passkeys.ts'
import { ROOT_ACTOR } from '../../platform/directory/members.ts'
import type { StoredPasskey } from '../../platform/directory/passkeys.ts'
import type { Values, Visit } from '../base/page.ts'
import { respond } from '../base/respond.ts'
import { beginSession, endSession, readSession, type Session, usesAccess } from '../base/session.ts'
import { readOwnForm } from '../change.ts'
import { readSignInForm } from '../form.ts'
import { AlonePage } from '../layout.tsx'
import { isOwnOrigin } from '../show-page.tsx'
import { nextOf, signIn as signInByPasskey, signInPage, waitOf } from './sign-in.tsx'
import { type OwnPasskeys, type PasskeySite, storedPasskeys } from './site.ts'

// How members of the team sign in to the console, and out.

const HOME = '/console'
const AT = `${HOME}/sign-in`

const KeyForm = ({ next }: { next: string }) => (
  <details>
    <summary>Sign in with the service’s key</summary>
    <form method="post" action={AT} class="change">
      <p class="note">
        For the first invitation, and for when nobody can sign in. The key is not stored.
      </p>
      <input type="hidden" name="next" value={next} />
      <div class="field">
        <label for="key">Key</label>
        <input id="key" name="key" type="password" required autocomplete="off" />
      </div>
      <button type="submit">Sign in with the key</button>
    </form>
  </details>
)

/** The console as a site with passkeys: a passkey is of a member of the team. */
export function teamSite(
  c: Context<AppEnv>,
  now = Date.now(),
): PasskeySite<StoredPasskey, FoundTeamInvitation & { language: null }> {
  const { DB } = c.env
  return {
    ...{ c, now, language: 'en', home: HOME, service: 'Tributary' },
    inviter: 'an approver of your team',
    Frame: AlonePage,
    otherWay: (next) => <KeyForm next={next} />,
    find: (credential_id) => findTeamPasskey(DB, credential_id),
    countUse: (passkey) =>
      TEAM_PASSKEYS.countUse(DB, { ...passkey }, new Date(now).toISOString(), []),
    countedAs: ({ member }) => member,
    refusalOf: () => null,
    begin: ({ credential_id }) => beginSession(c, passkeyProof(credential_id), now),
    async findInvitation(digest) {
      const found = await findTeamInvitation(DB, digest)
      return found && { ...found, language: null }
    },
    introduce({ author, name, email, role }) {
      const who = author ?? 'Whoever has the root key'
      const what = `You will be ${role === 'approver' ? 'an' : 'a'} ${role}`
      const text = `${who} invites you to the team as ${name} (${email}). ${what}, and what you do is stored under this name.`
      return { text, owner: `${name} · ${email}` }
    },
    accept: (invitation, digest, passkey) =>
      acceptTeamInvitation(DB, invitation, { digest, passkey, now }),
  }
}

/** Returns the passkeys of the member who looks at a page; null for the key of the service, which is nobody. */
export function ownPasskeys({ c, session, csrf, now }: Visit): OwnPasskeys | null {
  const { id, member, passkey } = session
  if (member.actor === ROOT_ACTOR) return null
  const { actor, name, email } = member
  const stored = storedPasskeys(c.env.DB, TEAM_PASSKEYS, { member: member.id }, (verb) => ({
    ...{ actor, action: `member-passkey.${verb}`, account: null, details: { member: member.id } },
  }))
  return {
    site: teamSite(c, now),
    session: { id, member: member.id, credential_id: passkey },
    csrf,
    owner: `${name} · ${email}`,
    ...stored,
  }
}

const accessPage = (c: Context<AppEnv>, status: 200 | 403 = 200) =>
  respond(
    c,
    <AlonePage title="Sign in">
      <p>
        Sign in through Cloudflare Access. If you see this page after that, Access does not protect{' '}
        <code>/console</code>: add the path to its application.
      </p>
    </AlonePage>,
    status,
  )

/** Responds with the sign-in, or sends a member who is signed in to the page that they wanted. */
export async function showSignIn(c: Context<AppEnv>): Promise<Response> {
  const next = nextOf(c.req.query('next'), HOME, c.req.url)
  if (await readSession(c, Date.now())) return c.redirect(next, 303)
  if (usesAccess(c.env)) return accessPage(c)
  const hasEnded = c.req.query('ended') !== undefined
  const problem = 'Your session has ended. Nothing was changed, and what you typed was not saved.'
  return signInPage(teamSite(c), { next, ...(hasEnded && { problem }) })
}

/** Begins a session if the form has the key of the service, or that of a member. */
async function signInByKey(site: PasskeySite, form: Values): Promise<Response> {
  const { c, now } = site
  const next = nextOf(form('next'), HOME, c.req.url)
  const refuse = (status: 401 | 403 | 429, problem: string) =>
    signInPage(site, { status, problem, next })
  if (!isOwnOrigin(c.req.raw)) return refuse(403, 'Open this page and sign in here.')
  const proved = await findByKey(form('key').trim(), c.env)
  const wait = await waitOf(site, proved !== null)
  if (wait > 0) {
    c.header('Retry-After', String(wait))
    return refuse(429, `Too many attempts. Try again in ${wait} seconds.`)
  }
  if (!proved) return refuse(401, 'This is not a key of this service.')
  await beginSession(c, proved.proof, now)
  return c.redirect(next, 303)
}

/** Begins a session if the form has the answer of a passkey, or a key. */
export async function signIn(c: Context<AppEnv>): Promise<Response> {
  if (usesAccess(c.env)) return accessPage(c, 403)
  const form = await readSignInForm(c)
  const site = teamSite(c)
  return form('key') ? signInByKey(site, form) : signInByPasskey(site, form)
}

/** Ends the session, also for copies of its cookie. */
export const signOut = (c: Context<AppEnv>) =>
  requireSession(c, async (session) => {
    await readOwnForm(c, session)
    await endSession(c, session)
    // Cloudflare Access keeps a session of its own, which only this address ends.
    return c.redirect(usesAccess(c.env) ? '/cdn-cgi/access/logout' : AT, 303)
  })

/** Handles a request with its session. Without one, the browser is sent to the sign-in and back. */
export async function requireSession(
  c: Context<AppEnv>,
  handle: (session: Session) => Promise<Response>,
): Promise<Response> {
  const session = await readSession(c, Date.now())
  if (session) return handle(session)
  const { pathname, search } = new URL(c.req.url)
  if (isSafe(c.req.method) && c.req.header('Sec-Fetch-Site') === 'cross-site') {
    // The browser withholds a `SameSite=Strict` cookie if another site links here, but sends it when
    // this page then loads itself.
    c.header('Refresh', '0')
    return respond(
      c,
      <AlonePage title="Continue">
        <p>
          <a href={pathname + search}>Continue to the console</a>
        </p>
      </AlonePage>,
    )
  }
  const next = nextOf(pathname + search, HOME, c.req.url)
  const ended = isSafe(c.req.method) ? {} : { ended: 'yes' }
  return c.redirect(`${AT}?${new URLSearchParams({ next, ...ended })}`, 303)
}
