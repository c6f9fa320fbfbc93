import { createMiddleware } from 'hono/factory'
import type { AppEnv } from '../auth/authorize.ts'
import { contentSecurityPolicy } from '../http/content-security-policy.ts'

const HEADERS = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': contentSecurityPolicy("'self'"),
  'X-Frame-Options': 'DENY',
  // With `no-referrer` browsers would send `Origin: null` with forms, which `isOwnOrigin` refuses.
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
}

/** Sets the security headers of every response of the console. */
export const policy = createMiddleware<AppEnv>(async function policy(c, next) {
  await next()
  for (const [name, value] of Object.entries(HEADERS)) c.res.headers.set(name, value)
})

/**
 * Returns whether a page of the console sent this form. Before the sign-in there is no session that a CSRF
 * token could be bound to: without this check, another site could sign its visitor in with its own key.
 */
export function isOwnOrigin({ headers, url }: Request): boolean {
  const origin = headers.get('Origin')
  const site = headers.get('Sec-Fetch-Site')
  if (site !== null && site !== 'same-origin') return false
  return origin === null ? site !== null : origin === new URL(url).origin
}
