import type { Context } from 'hono'
import { isDevelopment } from '../development.ts'

// Hono's own functions for cookies would add a KiB to the bundle.

/** Returns the value of a cookie; null if the request has none with this name. */
export function readCookie(c: Context, name: string): string | null {
  const cookies = (c.req.header('Cookie') ?? '').split(/; */)
  const found = cookies.find((cookie) => cookie.startsWith(`${name}=`))
  return found?.slice(name.length + 1) ?? null
}

/**
 * Sets a cookie that lasts `seconds`; 0 deletes it. Scripts cannot read it, and no other site can make the
 * browser send it. In development it is not `Secure`: browsers accept that over https only, and
 * `npm run dev` serves plain http.
 */
export function writeCookie(c: Context, name: string, value: string, seconds: number): void {
  const secure = isDevelopment(c.env) ? '' : '; Secure'
  const attributes = `Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`
  c.header('Set-Cookie', `${name}=${value}; ${attributes}`, { append: true })
}
