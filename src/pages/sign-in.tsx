import type { Context } from 'hono'
import { clientAddress } from '../platform/auth/address.ts'
import { findByKey } from '../platform/auth/admin-keys.ts'
import type { AppEnv } from '../platform/auth/authorize.ts'
import { SIGN_IN_LIMITS } from '../platform/auth/client-limits.ts'
import { withObjectRetry } from '../platform/auth/object-retry.ts'
import { isSafe } from '../platform/auth/roles.ts'
import { respond } from './base/respond.ts'
import { beginSession, endSession, readSession, type Session, usesAccess } from './base/session.ts'
import { readOwnForm } from './change.ts'
import { readSignInForm } from './form.ts'
import { Document, Home } from './layout.tsx'
import { isOwnOrigin } from './show-page.tsx'

const AT = '/console/sign-in'

/** Returns the address of the console that a member wanted; the list of accounts for any other. */
export function nextOf(text: string | undefined, origin: string): string {
  // Without this check a link to the sign-in could lead to another site (open redirect).
  if (text === undefined || !URL.canParse(text, origin)) return '/console'
  const { origin: to, pathname, search } = new URL(text, origin)
  const isPage = to === origin && /^\/console(?:\/|$)/.test(pathname)
  return isPage && !/^\/console\/sign-(?:in|out)$/.test(pathname) ? pathname + search : '/console'
}

const originOf = (c: Context<AppEnv>) => new URL(c.req.url).origin

interface SignIn {
  readonly next: string
  readonly error?: string
  readonly byAccess: boolean
  /** Whether a form was sent after its session had ended. */
  readonly hasEnded?: boolean
}

const KeyForm = ({ next, error }: SignIn) => (
  <form method="post" action={AT} class="change">
    {error && (
      <p class="notice bad" role="alert" id="error">
        {error}
      </p>
    )}
    <input type="hidden" name="next" value={next} />
    <div class="field">
      <label for="key">Admin key</label>
      <input
        id="key"
        name="key"
        type="password"
        required
        autocomplete="current-password"
        aria-describedby={error ? 'error' : undefined}
      />
    </div>
    <button type="submit">Sign in</button>
  </form>
)

const SignInPage = (props: SignIn) => (
  <Document title="Sign in">
    <header class="top">
      <Home />
    </header>
    <div class="frame alone">
      <main id="main" tabindex={-1}>
        <h1>Sign in</h1>
        {props.byAccess ? (
          <p>
            Sign in through Cloudflare Access. If you see this page after that, Access does not
            protect <code>/console</code>: add the path to its application.
          </p>
        ) : (
          <>
            {props.hasEnded && (
              <p class="notice">
                Your session has ended. Nothing was changed, and what you typed was not saved.
              </p>
            )}
            <p>The session lasts 8 hours. The key is not stored.</p>
            <KeyForm {...props} />
          </>
        )}
      </main>
    </div>
  </Document>
)

/** Responds with the form that takes an admin key. */
export async function showSignIn(c: Context<AppEnv>) {
  const next = nextOf(c.req.query('next'), originOf(c))
  if (await readSession(c, Date.now())) return c.redirect(next, 303)
  const hasEnded = c.req.query('ended') !== undefined
  return respond(c, <SignInPage next={next} byAccess={usesAccess(c.env)} hasEnded={hasEnded} />)
}

/** Begins a session if the form has an admin key. Counts wrong keys by address. */
export async function signIn(c: Context<AppEnv>) {
  const form = await readSignInForm(c)
  const next = nextOf(form('next'), originOf(c))
  const byAccess = usesAccess(c.env)
  const refuse = (status: 401 | 403 | 429, error: string) =>
    respond(c, <SignInPage next={next} error={error} byAccess={byAccess} />, status)
  if (byAccess || !isOwnOrigin(c.req.raw)) return refuse(403, 'Open this page and sign in here.')
  const proved = await findByKey(form('key').trim(), c.env)
  const clientGate = () =>
    c.env.CLIENT_GATE.getByName(`sign-in:${clientAddress(c.req.raw.headers)}`)
  const wait = await withObjectRetry(() =>
    clientGate().attempt(SIGN_IN_LIMITS, '', proved === null),
  )
  if (wait > 0) {
    c.header('Retry-After', String(wait))
    return refuse(429, `Too many wrong keys. Try again in ${wait} seconds.`)
  }
  if (!proved) return refuse(401, 'This is not a key of this service.')
  await beginSession(c, proved, Date.now())
  return c.redirect(next, 303)
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
    return respond(c, <Continue to={pathname + search} />)
  }
  const next = nextOf(pathname + search, originOf(c))
  const ended = isSafe(c.req.method) ? {} : { ended: 'yes' }
  return c.redirect(`${AT}?${new URLSearchParams({ next, ...ended })}`, 303)
}

const Continue = ({ to }: { to: string }) => (
  <Document title="Continue">
    <div class="frame alone">
      <main id="main" tabindex={-1}>
        <h1>Continue</h1>
        <p>
          <a href={to}>Continue to the console</a>
        </p>
      </main>
    </div>
  </Document>
)
