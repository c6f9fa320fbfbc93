import type { Context } from 'hono'
import { setCookie } from 'hono/cookie'
import { isDevelopment } from '../development.ts'

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
