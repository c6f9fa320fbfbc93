import type { Context } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import { signText, verifyText } from '../auth/sign-text.ts'
import { isDevelopment } from '../development.ts'
import { HOUR_MS } from '../durations.ts'

/**
 * Writes a cookie of a session that lasts `seconds`; 0 deletes it. Scripts cannot read it, and no other site can
 * make the browser send it. In development it is not `Secure`: browsers accept that over https only, and
 * `npm run dev` serves plain http.
 */
export function writeSessionCookie(c: Context, name: string, value: string, seconds: number): void {
  setCookie(c, name, value, {
    path: '/',
    maxAge: seconds,
    httpOnly: true,
    sameSite: 'Strict',
    secure: !isDevelopment(c.env),
  })
}

/** Returns the name of a cookie. Browsers accept the prefix `__Host-` over https only. */
export const sessionCookieName = (env: Env, name: string): string =>
  isDevelopment(env) ? name : `__Host-${name}`

/** How long a session lasts, in milliseconds. */
const SESSION_MS = 8 * HOUR_MS

/** What every session has: `until` is in milliseconds. */
interface SomeSession {
  readonly id: string
  readonly until: number
}

/**
 * Returns the sessions of the console or of the portal, which a signed cookie carries. Only the object of a session knows
 * whether its member has signed out.
 */
export function sessionsOf<S extends SomeSession>(site: 'console' | 'portal') {
  const context = `${site} session`
  const nameOf = (env: Env) => sessionCookieName(env, `tributary_${site}`)
  const csrfContext = ({ id }: Pick<S, 'id'>) => `${site} csrf ${id}`
  return {
    /** Returns the id and the end of a session that begins at `now` (milliseconds). */
    begin: (now: number): SomeSession => ({ id: crypto.randomUUID(), until: now + SESSION_MS }),
    /** Writes the cookie of a session that has begun. */
    write: async (c: Context, session: S) =>
      writeSessionCookie(
        c,
        nameOf(c.env),
        await signText(c.env, context, JSON.stringify(session)),
        SESSION_MS / 1000,
      ),
    /** Returns the session that the cookie of a request names; null if there is none or its time is over. */
    async read(c: Context, now: number): Promise<S | null> {
      const cookie = getCookie(c, nameOf(c.env))
      const text = cookie === undefined ? null : await verifyText(c.env, context, cookie)
      const session: S | null = text === null ? null : JSON.parse(text)
      return session && session.until > now ? session : null
    },
    /** Deletes the cookie. */
    forget: (c: Context): void => writeSessionCookie(c, nameOf(c.env), '', 0),
    /** Returns the token that each form of a session sends. */
    csrfToken: (env: Env, session: Pick<S, 'id'>) => signText(env, csrfContext(session), 'form'),
    /** Returns whether a token was issued to this session. */
    isCsrfToken: async (env: Env, session: Pick<S, 'id'>, token: string) =>
      (await verifyText(env, csrfContext(session), token)) !== null,
  }
}
