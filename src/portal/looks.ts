import type { Context } from 'hono'
import type { AppEnv } from '../platform/auth/authorize.ts'
import { findLogo } from '../platform/directory/account-logos.ts'
import { findAccount } from '../platform/directory/accounts.ts'
import { ApiError } from '../platform/errors.ts'
import { darkAccentOf } from '../platform/validation/accent.ts'

// The logo and the colors of an account's portal, which its sign-in shows to everybody.

/** An address with a digest never changes what it shows, and one without can be kept for a moment. */
const cacheOf = (c: Context): string =>
  c.req.query('v') ? 'public, max-age=31536000, immutable' : 'public, max-age=300'

/** What keeps an image from being anything else: a page of the service, or one that runs scripts. */
const HEADERS = {
  'Content-Security-Policy':
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:",
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Resource-Policy': 'same-origin',
}

/** Responds with the logo of an account. */
export async function showLogo(c: Context<AppEnv>): Promise<Response> {
  const logo = await findLogo(c.env.DB, c.req.param('account') ?? '')
  if (!logo) throw new ApiError('not_found')
  const headers = { ...HEADERS, 'Content-Type': logo.type, 'Cache-Control': cacheOf(c) }
  return c.body(Uint8Array.fromBase64(logo.data), 200, headers)
}

/** Responds with the colors of an account as a style sheet. */
export async function showColors(c: Context<AppEnv>): Promise<Response> {
  const account = await findAccount(c.env.DB, c.req.param('account') ?? '')
  if (!account?.accent_color) throw new ApiError('not_found')
  const { accent_color: color } = account
  const css = `:root { --link: ${color}; --button: ${color}; }
@media (prefers-color-scheme: dark) { :root { --link: ${darkAccentOf(color)}; } }
`
  const type = { 'Content-Type': 'text/css; charset=utf-8', 'Cache-Control': cacheOf(c) }
  return c.body(css, 200, { ...HEADERS, ...type })
}
