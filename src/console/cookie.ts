import type { Context } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import { isDevelopment } from '../development.ts'

/** Returns the value of a cookie; null if the request has none with this name. */
export const readCookie = (c: Context, name: string): string | null => getCookie(c, name) ?? null

/**
 * Sets a cookie that lasts `seconds`; 0 deletes it. Scripts cannot read it, and no other site can make the
 * browser send it. In development it is not `Secure`: browsers accept that over https only, and
 * `npm run dev` serves plain http.
 */
export function writeCookie(c: Context, name: string, value: string, seconds: number): void {
  setCookie(c, name, value, {
    path: '/',
    maxAge: seconds,
    httpOnly: true,
    sameSite: 'Strict',
    secure: !isDevelopment(c.env),
  })
}
